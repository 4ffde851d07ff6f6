// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90" --tessera-pack-operands --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: tessera.packing

// One image with the channels first. The output is written in its order.

#nchw = affine_map<(n, h, w, f, r, s, c) -> (n, c, h + r - 1, w + s - 1)>
#fchw = affine_map<(n, h, w, f, r, s, c) -> (f, c, r, s)>
#nfhw = affine_map<(n, h, w, f, r, s, c) -> (n, f, h, w)>

// CHECK-DAG:   #[[IMAGE_MAP:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)>
// CHECK-DAG:   #[[FILTER_MAP:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
// CHECK-DAG:   #[[OUT_MAP:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2)>
// CHECK-LABEL: func @one
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<1x128x28x28xf16>, %[[B:[a-z0-9]+]]: memref<128x128x3x3xf16>, %[[C:[a-z0-9]+]]: memref
// CHECK-DAG:     %[[IMAGE:.+]] = memref.alloc() {alignment = 16 : i64} : memref<1x28x28x128xf16>
// CHECK-DAG:     %[[FILTERS:.+]] = memref.alloc() {alignment = 16 : i64} : memref<128x3x3x128xf16>
// CHECK:         linalg.transpose ins(%[[A]] : {{.*}}) outs(%[[IMAGE]] : {{.*}}) permutation = [0, 2, 3, 1] {tessera.packing = "copies the image of a convolution, 1x128x28x28xf16, to 128 channels in the last dimension, whose rows are aligned to 16 bytes"}
// CHECK:         linalg.transpose ins(%[[B]] : {{.*}}) outs(%[[FILTERS]] : {{.*}}) permutation = [0, 2, 3, 1] {tessera.packing = "copies the filters of a convolution, 128x128x3x3xf16, to rows of 128 channels"}
// CHECK:         tessera.contract ins(%[[IMAGE]], %[[FILTERS]] : {{.*}}) outs(%[[C]] : {{.*}}) maps [#[[IMAGE_MAP]], #[[FILTER_MAP]], #[[OUT_MAP]]]
// CHECK-NOT:     linalg.
// CHECK-DAG:     memref.dealloc %[[IMAGE]]
// CHECK-DAG:     memref.dealloc %[[FILTERS]]
func.func @one(%a: memref<1x128x28x28xf16>, %b: memref<128x128x3x3xf16>, %c: memref<1x128x28x28xf16>) {
  tessera.contract ins(%a, %b : memref<1x128x28x28xf16>, memref<128x128x3x3xf16>) outs(%c : memref<1x128x28x28xf16>)
      maps [#nchw, #fchw, #nfhw] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Small images: a tile has the rows of several, so the output is copied.

#nchw = affine_map<(n, h, w, f, r, s, c) -> (n, c, h + r - 1, w + s - 1)>
#fchw = affine_map<(n, h, w, f, r, s, c) -> (f, c, r, s)>
#nfhw = affine_map<(n, h, w, f, r, s, c) -> (n, f, h, w)>

// CHECK-DAG:   #[[OUT_MAP:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @several
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<32x256x14x14xf16>, %{{[a-z0-9]+}}: memref<192x256x3x3xf16>, %[[C:[a-z0-9]+]]: memref
// CHECK-DAG:     %[[OUT:.+]] = memref.alloc() {alignment = 16 : i64} : memref<32x14x14x192xf16>
// CHECK:         linalg.transpose ins(%[[A]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         tessera.contract {{.*}} outs(%[[OUT]] : {{.*}}) maps [{{.*}}, #[[OUT_MAP]]]
// CHECK:         linalg.transpose ins(%[[OUT]] : {{.*}}) outs(%[[C]] : {{.*}}) permutation = [0, 3, 1, 2] {tessera.packing = "copies the result of a convolution, which has its channels last, to 32x192x14x14xf16"}
// CHECK:         memref.dealloc %[[OUT]]
func.func @several(%a: memref<32x256x14x14xf16>, %b: memref<192x256x3x3xf16>, %c: memref<32x192x14x14xf16>) {
  tessera.contract ins(%a, %b : memref<32x256x14x14xf16>, memref<192x256x3x3xf16>) outs(%c : memref<32x192x14x14xf16>)
      maps [#nchw, #fchw, #nfhw] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Channels that are not whole rows get zeros, up to a width by which steps have
// long rows: 32 of 27, 352 of 325, 16 of 3.

#nhwc = affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>
#apart = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s * 2, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#nhwf = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>
#point = affine_map<(n, h, w, f, c) -> (n, h * 2, w * 2, c)>
#cf = affine_map<(n, h, w, f, c) -> (c, f)>
#nhwf1 = affine_map<(n, h, w, f, c) -> (n, h, w, f)>

// CHECK-LABEL: func @odd
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<1x19x19x27xbf16>, %[[B:[a-z0-9]+]]: memref<7x7x27x205xbf16>
// CHECK-DAG:     %[[IMAGE:.+]] = memref.alloc() {alignment = 16 : i64} : memref<1x19x19x32xbf16>
// CHECK-DAG:     %[[FILTERS:.+]] = memref.alloc() {alignment = 16 : i64} : memref<205x7x7x32xbf16>
// CHECK:         linalg.generic {{.*}} outs(%[[IMAGE]] :
// CHECK-DAG:       %[[I0:.+]] = linalg.index 0
// CHECK-DAG:       %[[I1:.+]] = linalg.index 1
// CHECK-DAG:       %[[I2:.+]] = linalg.index 2
// CHECK-DAG:       %[[I3:.+]] = linalg.index 3
// CHECK:           %[[INSIDE:.+]] = arith.cmpi ult, %[[I3]], %c27
// CHECK:           scf.if %[[INSIDE]]
// CHECK:             memref.load %[[A]][%[[I0]], %[[I1]], %[[I2]], %[[I3]]]
// CHECK:           else
// CHECK:             arith.constant 0.0
// CHECK:         linalg.generic {{.*}} outs(%[[FILTERS]] :
// CHECK-DAG:       %[[J0:.+]] = linalg.index 0
// CHECK-DAG:       %[[J1:.+]] = linalg.index 1
// CHECK-DAG:       %[[J2:.+]] = linalg.index 2
// CHECK-DAG:       %[[J3:.+]] = linalg.index 3
// CHECK:             memref.load %[[B]][%[[J1]], %[[J2]], %[[J3]], %[[J0]]]
// CHECK:         tessera.contract ins(%[[IMAGE]], %[[FILTERS]] :
func.func @odd(%a: memref<1x19x19x27xbf16>, %b: memref<7x7x27x205xbf16>, %c: memref<1x7x7x205xbf16>) {
  tessera.contract ins(%a, %b : memref<1x19x19x27xbf16>, memref<7x7x27x205xbf16>) outs(%c : memref<1x7x7x205xbf16>)
      maps [#nhwc, #hwcf, #nhwf] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to bf16
    tessera.yield %x : bf16
  }
  return
}

// CHECK-LABEL: func @long
// CHECK-DAG:     memref.alloc() {alignment = 16 : i64} : memref<8x30x30x352xf16>
// CHECK-DAG:     memref.alloc() {alignment = 16 : i64} : memref<64x352xf16>
func.func @long(%a: memref<8x30x30x325xf16>, %b: memref<325x64xf16>, %c: memref<8x15x15x64xf16>) {
  tessera.contract ins(%a, %b : memref<8x30x30x325xf16>, memref<325x64xf16>) outs(%c : memref<8x15x15x64xf16>)
      maps [#point, #cf, #nhwf1] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Positions of a window that are not adjacent.

// CHECK-LABEL: func @apart
// CHECK-DAG:     memref.alloc() {alignment = 16 : i64} : memref<8x226x228x16xf16>
// CHECK-DAG:     memref.alloc() {alignment = 16 : i64} : memref<64x3x3x16xf16>
func.func @apart(%a: memref<8x226x228x3xf16>, %b: memref<3x3x3x64xf16>, %c: memref<8x224x224x64xf16>) {
  tessera.contract ins(%a, %b : memref<8x226x228x3xf16>, memref<3x3x3x64xf16>) outs(%c : memref<8x224x224x64xf16>)
      maps [#apart, #hwcf, #nhwf] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Groups are computed by single subgroups, which gain by wide copies as well.

#ngchw = affine_map<(n, g, h, w, f, r, s, c) -> (n, g, c, h + r, w + s)>
#gfchw = affine_map<(n, g, h, w, f, r, s, c) -> (g, f, c, r, s)>
#ngfhw = affine_map<(n, g, h, w, f, r, s, c) -> (n, g, f, h, w)>

// CHECK-LABEL: func @groups
// CHECK-DAG:     memref.alloc() {alignment = 16 : i64} : memref<32x32x30x30x8xf16>
// CHECK-DAG:     memref.alloc() {alignment = 16 : i64} : memref<32x8x3x3x8xf16>
func.func @groups(%a: memref<32x32x8x30x30xf16>, %b: memref<32x8x8x3x3xf16>, %c: memref<32x32x8x28x28xf16>) {
  tessera.contract ins(%a, %b : memref<32x32x8x30x30xf16>, memref<32x8x8x3x3xf16>) outs(%c : memref<32x32x8x28x28xf16>)
      maps [#ngchw, #gfchw, #ngfhw] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Three channels in front: runs of a view with the channels last. The images are
// not rows of one window unless the output has its channels last.

#nchw = affine_map<(n, h, w, f, r, s, c) -> (n, c, h + r - 1, w + s - 1)>
#fchw = affine_map<(n, h, w, f, r, s, c) -> (f, c, r, s)>
#nfhw = affine_map<(n, h, w, f, r, s, c) -> (n, f, h, w)>

// CHECK-LABEL: func @front
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<32x3x224x224xf16>, %[[B:[a-z0-9]+]]: memref<64x3x3x3xf16>, %[[C:[a-z0-9]+]]: memref
// CHECK-DAG:     %[[IMAGE_VIEW:.+]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [32, 224, 224, 3], strides: [150528, 224, 1, 50176]
// CHECK-DAG:     %[[FILTER_VIEW:.+]] = memref.reinterpret_cast %[[B]] to offset: [0], sizes: [64, 3, 3, 3], strides: [27, 3, 1, 9]
// CHECK-DAG:     %[[OUT:.+]] = memref.alloc() {alignment = 16 : i64} : memref<32x224x224x64xf16>
// CHECK-DAG:     %[[IMAGE:.+]] = memref.alloc() {alignment = 16 : i64} : memref<32x224x227x8xf16>
// CHECK:         linalg.generic {{.*}} outs(%[[IMAGE]] :
// CHECK:           memref.load %[[IMAGE_VIEW]]
// CHECK:           memref.load %[[FILTER_VIEW]]
// CHECK:         tessera.contract {{.*}} outs(%[[OUT]] :
// CHECK:         linalg.transpose ins(%[[OUT]] : {{.*}}) outs(%[[C]] :
func.func @front(%a: memref<32x3x224x224xf16>, %b: memref<64x3x3x3xf16>, %c: memref<32x64x224x224xf16>) {
  tessera.contract ins(%a, %b : memref<32x3x224x224xf16>, memref<64x3x3x3xf16>) outs(%c : memref<32x64x224x224xf16>)
      maps [#nchw, #fchw, #nfhw] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

// Not changed: few multiply-adds, rows of whole words that save less, a schedule
// by hand, dynamic extents.

#nchw = affine_map<(n, h, w, f, r, s, c) -> (n, c, h + r - 1, w + s - 1)>
#nhwc = affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 1, w + s - 1, c)>
#fchw = affine_map<(n, h, w, f, r, s, c) -> (f, c, r, s)>
#nfhw = affine_map<(n, h, w, f, r, s, c) -> (n, f, h, w)>
#nhwf = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// CHECK-LABEL: func @small
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func @even
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func @by_hand
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func @unknown
// CHECK-NOT:     memref.alloc
func.func @small(%a: memref<1x16x8x8xf16>, %b: memref<16x16x2x2xf16>, %c: memref<1x16x9x9xf16>) {
  tessera.contract ins(%a, %b : memref<1x16x8x8xf16>, memref<16x16x2x2xf16>) outs(%c : memref<1x16x9x9xf16>)
      maps [#nchw, #fchw, #nfhw] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
func.func @even(%a: memref<16x28x28x30xf16>, %b: memref<50x30x3x3xf16>, %c: memref<16x28x28x50xf16>) {
  tessera.contract ins(%a, %b : memref<16x28x28x30xf16>, memref<50x30x3x3xf16>) outs(%c : memref<16x28x28x50xf16>)
      maps [#nhwc, #fchw, #nhwf] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
func.func @by_hand(%a: memref<1x128x28x28xf16>, %b: memref<128x128x3x3xf16>, %c: memref<1x128x28x28xf16>) {
  tessera.contract ins(%a, %b : memref<1x128x28x28xf16>, memref<128x128x3x3xf16>) outs(%c : memref<1x128x28x28xf16>)
      maps [#nchw, #fchw, #nfhw] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 4, vthread = [1, 1]> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
func.func @unknown(%a: memref<?x128x28x28xf16>, %b: memref<128x128x3x3xf16>, %c: memref<?x128x28x28xf16>) {
  tessera.contract ins(%a, %b : memref<?x128x28x28xf16>, memref<128x128x3x3xf16>) outs(%c : memref<?x128x28x28xf16>)
      maps [#nchw, #fchw, #nfhw] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

#nhwc = affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 2, w + s - 2, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#nhwf = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// 48 channels of two bytes are three rows of 32 bytes, which bulk copies load
// slowly: a fourth one makes them whole lines. 96 channels have rows of 64 bytes.
// CHECK-LABEL: func @short_rows
// CHECK:         %[[IMAGE:.+]] = memref.alloc() {{.*}} : memref<32x35x35x64xf16>
// CHECK:         %[[FILTERS:.+]] = memref.alloc() {{.*}} : memref<64x5x5x64xf16>
// CHECK:         tessera.packing = "copies the image of a convolution, 32x35x35x48xf16, to 64 channels in the last dimension, whose rows are multiples of 128 bytes"
// CHECK:         tessera.packing = "copies the filters of a convolution, 5x5x48x64xf16, to rows of 64 channels"
// CHECK:         tessera.contract ins(%[[IMAGE]], %[[FILTERS]] :
// CHECK-LABEL: func @other_rows
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @short_rows(%a: memref<32x35x35x48xf16>, %b: memref<5x5x48x64xf16>, %c: memref<32x35x35x64xf16>) {
  tessera.contract ins(%a, %b : memref<32x35x35x48xf16>, memref<5x5x48x64xf16>) outs(%c : memref<32x35x35x64xf16>)
      maps [#nhwc, #hwcf, #nhwf] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
func.func @other_rows(%a: memref<32x35x35x96xf16>, %b: memref<5x5x96x64xf16>, %c: memref<32x35x35x64xf16>) {
  tessera.contract ins(%a, %b : memref<32x35x35x96xf16>, memref<5x5x96x64xf16>) outs(%c : memref<32x35x35x64xf16>)
      maps [#nhwc, #hwcf, #nhwf] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
