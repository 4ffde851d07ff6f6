// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a chip without instructions of several subgroups, an image of few channels
// is packed if the chip's table has the time that this saves: elements would be
// gathered one by one.
//
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=nvidia-hopper" --tessera-pack-operands --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=lavapipe" --tessera-pack-operands --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: linalg.generic
// NONE-NOT: tessera.packing

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r - 3, w * 2 + s - 3, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// CHECK-DAG:   #[[RUNS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4 - 3, d2, d5)>
// CHECK-LABEL: func @few
// CHECK-DAG:     %[[IMAGE:.+]] = memref.alloc() {alignment = 16 : i64} : memref<8x224x230x4xf16>
// CHECK-DAG:     %[[VIEW:.+]] = memref.reinterpret_cast %[[IMAGE]] to offset: [0], sizes: [8, 224, 112, 32], strides: [206080, 920, 8, 1]
// CHECK:         linalg.generic {{.*}} outs(%[[IMAGE]] : {{.*}} attrs = {tessera.packing =
// CHECK:         tessera.contract ins(%[[VIEW]], %{{.*}} maps [#[[RUNS]],
func.func @few(%a: memref<8x224x224x3xf16>, %b: memref<7x7x3x64xf16>, %c: memref<8x112x112x64xf16>) {
  tessera.contract ins(%a, %b : memref<8x224x224x3xf16>, memref<7x7x3x64xf16>) outs(%c : memref<8x112x112x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Few multiply-adds: the copies would take longer.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r - 3, w * 2 + s - 3, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// CHECK-LABEL: func @small
// CHECK-NOT:     tessera.packing
// CHECK:         return
func.func @small(%a: memref<1x16x16x3xf16>, %b: memref<7x7x3x64xf16>, %c: memref<1x8x8x64xf16>) {
  tessera.contract ins(%a, %b : memref<1x16x16x3xf16>, memref<7x7x3x64xf16>) outs(%c : memref<1x8x8x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
