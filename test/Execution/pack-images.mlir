// Convolutions over images of three channels mean the same after images and
// filters were copied for bulk copies, whatever then runs them.
//
// The runner frees the program's own allocations.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands -o %t.freed.mlir
// RUN: grep -v memref.dealloc %t.freed.mlir > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=REPACKED
// RUN: gpu-runner %s --target=cpu --verify --entry=steps --out=0=%t.steps.npy | FileCheck %s
// RUN: gpu-runner %t.mlir --target=cpu --entry=steps --out=0=%t.repacked.npy
// RUN: cmp %t.steps.npy %t.repacked.npy
// RUN: gpu-runner %s --target=cpu --verify --entry=dense --out=0=%t.dense.npy | FileCheck %s
// RUN: gpu-runner %t.mlir --target=cpu --entry=dense --out=0=%t.repacked.npy
// RUN: cmp %t.dense.npy %t.repacked.npy
// CHECK: {{^}}verified
// REPACKED-COUNT-4: tessera.packing

// 7x7 in steps of two with different borders on each side, larger than the
// window's last position reaches.
func.func @steps(%image: memref<4x90x94x3xf16>, %filters: memref<7x7x3x64xf16>, %out: memref<4x45x48x64xf32>) {
  tessera.contract ins(%image, %filters : memref<4x90x94x3xf16>, memref<7x7x3x64xf16>) outs(%out : memref<4x45x48x64xf32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r - 3, w * 2 + s - 2, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// 5x3 in steps of one, filters by outputs, one image.
func.func @dense(%image: memref<1x130x131x3xf16>, %filters: memref<128x5x3x3xf16>, %out: memref<1x130x131x128xf32>) {
  tessera.contract ins(%image, %filters : memref<1x130x131x3xf16>, memref<128x5x3x3xf16>) outs(%out : memref<1x130x131x128xf32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 2, w + s - 1, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
