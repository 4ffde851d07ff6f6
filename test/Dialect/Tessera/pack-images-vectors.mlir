// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512" --tessera-pack-operands --split-input-file | FileCheck %s

// A lone thread copies images of few channels as well: a row of a window is a
// run of whole vectors of 16 bytes, with as many channels as the image has.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, c, h * 2 + r - 3, w * 2 + s - 3)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// Channels first: seven positions of three channels are 21 elements, eight are
// 24.

// CHECK-DAG:   #[[RUNS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4 - 3, d2, d5)>
// CHECK-LABEL: func @first
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<1x3x224x224xf32>
// CHECK-DAG:     %[[SOURCE:.+]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [1, 224, 224, 3], strides: [150528, 224, 1, 50176]
// CHECK-DAG:     %[[IMAGE:.+]] = memref.alloc() {alignment = 64 : i64} : memref<1x224x230x3xf32>
// CHECK-DAG:     %[[FILTER:.+]] = memref.alloc() {alignment = 64 : i64} : memref<7x8x3x64xf32>
// CHECK-DAG:     %[[VIEW:.+]] = memref.reinterpret_cast %[[IMAGE]] to offset: [0], sizes: [1, 224, 112, 24], strides: [154560, 690, 6, 1]
// CHECK:         linalg.generic {{.*}} outs(%[[IMAGE]] : {{.*}} attrs = {tessera.packing = "copies the image of a convolution, 1x224x224x3xf32, to 3 channels and a border, so that rows of windows are whole vectors"}
// CHECK:           memref.load %[[SOURCE]]
// CHECK:         tessera.contract ins(%[[VIEW]], %{{.+}} : {{.*}} maps [#[[RUNS]],
func.func @first(%a: memref<1x3x224x224xf32>, %b: memref<7x7x3x64xf32>, %c: memref<1x112x112x64xf32>) {
  tessera.contract ins(%a, %b : memref<1x3x224x224xf32>, memref<7x7x3x64xf32>) outs(%c : memref<1x112x112x64xf32>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// Four channels are a vector.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// CHECK-LABEL: func @vectors
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @vectors(%a: memref<1x16x16x4xf32>, %b: memref<3x3x4x64xf32>, %c: memref<1x14x14x64xf32>) {
  tessera.contract ins(%a, %b : memref<1x16x16x4xf32>, memref<3x3x4x64xf32>) outs(%c : memref<1x14x14x64xf32>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
