// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90" --tessera-pack-operands --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: linalg.generic
// NONE-NOT: tessera.packing

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r - 3, w * 2 + s - 3, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// Three channels become four, seven positions eight, and those of a row one run.

// CHECK-DAG:   #[[RUNS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4 - 3, d2, d5)>
// CHECK-DAG:   #[[FILTERS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
// CHECK-DAG:   #[[OUT:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @channels
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<8x224x224x3xf16>, %[[B:[a-z0-9]+]]: memref<7x7x3x64xf16>
// CHECK-DAG:     %[[IMAGE:.+]] = memref.alloc() {alignment = 16 : i64} : memref<8x224x230x4xf16>
// CHECK-DAG:     %[[FILTER:.+]] = memref.alloc() {alignment = 16 : i64} : memref<7x8x4x64xf16>
// CHECK-DAG:     %[[VIEW:.+]] = memref.reinterpret_cast %[[IMAGE]] to offset: [0], sizes: [8, 224, 112, 32], strides: [206080, 920, 8, 1]
// CHECK-DAG:     %[[ROWS:.+]] = memref.collapse_shape %[[FILTER]] {{\[}}[0], [1, 2], [3]]
// CHECK:         linalg.generic {{.*}} outs(%[[IMAGE]] : {{.*}} attrs = {tessera.packing = "copies the image of a convolution, 8x224x224x3xf16, to 4 channels and a border, so that windows are aligned to 16 bytes"}
// CHECK-DAG:       %[[W:.+]] = linalg.index 2
// CHECK-DAG:       %[[C:.+]] = linalg.index 3
// CHECK:           %[[X:.+]] = arith.subi %[[W]], %c3
// CHECK:           %[[IN_ROW:.+]] = arith.cmpi ult, %[[X]], %c224
// CHECK:           %[[IN_PIXEL:.+]] = arith.cmpi ult, %[[C]], %c3
// CHECK:           %[[INSIDE:.+]] = arith.andi %[[IN_ROW]], %[[IN_PIXEL]]
// CHECK:           scf.if %[[INSIDE]]
// CHECK:             memref.load %[[A]][%{{.+}}, %{{.+}}, %[[X]], %[[C]]]
// CHECK:         linalg.generic {{.*}} outs(%[[FILTER]] : {{.*}} attrs = {tessera.packing = "copies the filters of a convolution, 7x7x3x64xf16, to as many channels and 8 positions per row"}
// CHECK:             memref.load %[[B]]
// CHECK:         tessera.contract ins(%[[VIEW]], %[[ROWS]] : {{.*}} maps [#[[RUNS]], #[[FILTERS]], #[[OUT]]]
// CHECK-DAG:     memref.dealloc %[[IMAGE]]
// CHECK-DAG:     memref.dealloc %[[FILTER]]
func.func @channels(%a: memref<8x224x224x3xf16>, %b: memref<7x7x3x64xf16>, %c: memref<8x112x112x64xf16>) {
  tessera.contract ins(%a, %b : memref<8x224x224x3xf16>, memref<7x7x3x64xf16>) outs(%c : memref<8x112x112x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Steps of one pixel: eight channels, so that windows begin at multiples of 16
// bytes. Filters of one output after the other.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s, c)>
#fhwc = affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// CHECK-LABEL: func @steps
// CHECK-DAG:     %[[IMAGE:.+]] = memref.alloc() {alignment = 16 : i64} : memref<8x224x225x8xf16>
// CHECK-DAG:     %[[FILTER:.+]] = memref.alloc() {alignment = 16 : i64} : memref<64x3x4x8xf16>
// CHECK-DAG:     memref.reinterpret_cast %[[IMAGE]] to offset: [0], sizes: [8, 224, 222, 32], strides: [403200, 1800, 8, 1]
// CHECK-DAG:     memref.collapse_shape %[[FILTER]] {{\[}}[0], [1], [2, 3]]
func.func @steps(%a: memref<8x224x224x3xf16>, %b: memref<64x3x3x3xf16>, %c: memref<8x222x222x64xf16>) {
  tessera.contract ins(%a, %b : memref<8x224x224x3xf16>, memref<64x3x3x3xf16>) outs(%c : memref<8x222x222x64xf16>)
      maps [#image, #fhwc, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Not changed: enough channels, few multiply-adds, a schedule by hand, dynamic
// extents.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// CHECK-LABEL: func @enough
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func @few
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func @by_hand
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func @unknown
// CHECK-NOT:     memref.alloc
func.func @enough(%a: memref<8x226x226x16xf16>, %b: memref<3x3x16x64xf16>, %c: memref<8x224x224x64xf16>) {
  tessera.contract ins(%a, %b : memref<8x226x226x16xf16>, memref<3x3x16x64xf16>) outs(%c : memref<8x224x224x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
func.func @few(%a: memref<1x10x10x3xf16>, %b: memref<3x3x3x64xf16>, %c: memref<1x8x8x64xf16>) {
  tessera.contract ins(%a, %b : memref<1x10x10x3xf16>, memref<3x3x3x64xf16>) outs(%c : memref<1x8x8x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
func.func @by_hand(%a: memref<8x226x226x3xf16>, %b: memref<3x3x3x64xf16>, %c: memref<8x224x224x64xf16>) {
  tessera.contract ins(%a, %b : memref<8x226x226x3xf16>, memref<3x3x3x64xf16>) outs(%c : memref<8x224x224x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 32, kFragment = 32, stages = 3, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
func.func @unknown(%a: memref<?x226x226x3xf16>, %b: memref<3x3x3x64xf16>, %c: memref<?x224x224x64xf16>) {
  tessera.contract ins(%a, %b : memref<?x226x226x3xf16>, memref<3x3x3x64xf16>) outs(%c : memref<?x224x224x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
