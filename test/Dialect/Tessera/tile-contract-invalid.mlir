// RUN: not gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_81" --tessera-tile-contract 2>&1 | FileCheck %s

// CHECK: unknown chip 'sm_81' of target 'cuda'

func.func @chip(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) outs(%c : memref<64x64xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
