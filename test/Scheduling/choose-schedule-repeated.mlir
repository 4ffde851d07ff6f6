// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The default schedule of equal matmuls is chosen once; those of other extents and layouts have their own.
// REQUIRES: asserts

// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT-DAG: 5 tessera-choose-schedule - Number of default schedules{{$}}
// COUNT-DAG: 2 tessera-choose-schedule - Number of default schedules taken from an equal contraction
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s
// CHECK-COUNT-5: tessera.contract {{.*}} schedule <

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @repeated(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>, %wide: memref<64x128xf16>, %d: memref<64x128xf32>) {
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  tessera.contract ins(%b, %a : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  tessera.contract ins(%a, %wide : memref<64x64xf16>, memref<64x128xf16>) outs(%d : memref<64x128xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  return
}
