// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file | FileCheck %s

// A convolution is a matmul whose lhs is gathered from the
// image.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-DAG: #[[R:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @nhwc_hwcf
// CHECK-SAME:    %[[A:.+]]: tensor<2x34x34x16xf16>, %[[B:.+]]: tensor<3x3x16x32xf16>, %[[C:.+]]: tensor<2x32x32x32xf32>
// CHECK:         tessera.contract ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] : {{.*}}) maps [#[[L]], #[[R]], #[[O]]] accumulate f32 {
func.func @nhwc_hwcf(%a: tensor<2x34x34x16xf16>, %b: tensor<3x3x16x32xf16>, %c: tensor<2x32x32x32xf32>)
    -> tensor<2x32x32x32xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<2x34x34x16xf16>, tensor<3x3x16x32xf16>)
      outs(%c : tensor<2x32x32x32xf32>) -> tensor<2x32x32x32xf32>
  return %r : tensor<2x32x32x32xf32>
}

// -----

// Strides and dilations are the factors.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 3 + d5 * 2, d6)>
// CHECK-DAG: #[[R:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @nhwc_fhwc
// CHECK:         tessera.contract {{.*}} maps [#[[L]], #[[R]], #[[O]]] accumulate f32
func.func @nhwc_fhwc(%a: memref<2x33x101x16xbf16>, %b: memref<32x3x3x16xbf16>, %c: memref<2x16x33x32xf32>) {
  linalg.conv_2d_nhwc_fhwc {strides = dense<[2, 3]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
      ins(%a, %b : memref<2x33x101x16xbf16>, memref<32x3x3x16xbf16>) outs(%c : memref<2x16x33x32xf32>)
  return
}

// -----

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
// CHECK-DAG: #[[R:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @nchw_fchw
// CHECK:         tessera.contract {{.*}} maps [#[[L]], #[[R]], #[[O]]] accumulate f64
func.func @nchw_fchw(%a: tensor<?x?x?x?xf64>, %b: tensor<?x?x?x?xf64>, %c: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %r = linalg.conv_2d_nchw_fchw ins(%a, %b : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
      outs(%c : tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// -----

// The group is a batch.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, d3 + d6, d4 + d7)>
// CHECK-DAG: #[[GF:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>
// CHECK-DAG: #[[FG:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d2, d1, d5, d6, d7)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: func @grouped
// CHECK:         tessera.contract {{.*}} maps [#[[L]], #[[GF]], #[[O]]] accumulate i32
// CHECK:         tessera.contract {{.*}} maps [#[[L]], #[[FG]], #[[O]]] accumulate i32
// CHECK:         tessera.contract {{.*}} tensor<1x6x6x2x4xf32>, tensor<2x8x3x3x4xf32>) {{.*}} accumulate f32
func.func @grouped(%a: tensor<1x2x4x6x6xi8>, %gf: tensor<2x8x4x3x3xi8>, %fg: tensor<8x2x4x3x3xi8>, %c: tensor<1x2x8x4x4xi32>,
                   %x: tensor<1x6x6x2x4xf32>, %y: tensor<2x8x3x3x4xf32>, %z: tensor<1x4x4x2x8xf32>)
    -> (tensor<1x2x8x4x4xi32>, tensor<1x2x8x4x4xi32>, tensor<1x4x4x2x8xf32>) {
  %r = linalg.conv_2d_ngchw_gfchw ins(%a, %gf : tensor<1x2x4x6x6xi8>, tensor<2x8x4x3x3xi8>)
      outs(%c : tensor<1x2x8x4x4xi32>) -> tensor<1x2x8x4x4xi32>
  %s = linalg.conv_2d_ngchw_fgchw ins(%a, %fg : tensor<1x2x4x6x6xi8>, tensor<8x2x4x3x3xi8>)
      outs(%c : tensor<1x2x8x4x4xi32>) -> tensor<1x2x8x4x4xi32>
  %t = linalg.conv_2d_nhwgc_gfhwc ins(%x, %y : tensor<1x6x6x2x4xf32>, tensor<2x8x3x3x4xf32>)
      outs(%z : tensor<1x4x4x2x8xf32>) -> tensor<1x4x4x2x8xf32>
  return %r, %s, %t : tensor<1x2x8x4x4xi32>, tensor<1x2x8x4x4xi32>, tensor<1x4x4x2x8xf32>
}

// -----

// One and three dimensions, and 8-bit floats.

// CHECK-DAG: #[[L1:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d4)>
// CHECK-DAG: #[[L3:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 + d5, d2 + d6, d3 + d7, d8)>
// CHECK-LABEL: func @other_ranks
// CHECK:         tessera.contract {{.*}} maps [#[[L1]], {{.*}} accumulate f32
// CHECK:         tessera.contract {{.*}} maps [#[[L3]], {{.*}} accumulate f32
func.func @other_ranks(%a: memref<2x65x16xf8E4M3FN>, %b: memref<3x16x8xf8E4M3FN>, %c: memref<2x32x8xf32>,
                       %x: memref<1x6x6x6x4xf32>, %y: memref<3x3x3x4x8xf32>, %z: memref<1x4x4x4x8xf32>) {
  linalg.conv_1d_nwc_wcf {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%a, %b : memref<2x65x16xf8E4M3FN>, memref<3x16x8xf8E4M3FN>) outs(%c : memref<2x32x8xf32>)
  linalg.conv_3d_ndhwc_dhwcf ins(%x, %y : memref<1x6x6x6x4xf32>, memref<3x3x3x4x8xf32>)
      outs(%z : memref<1x4x4x4x8xf32>)
  return
}

// -----

// A 1x1 convolution is a plain matmul.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[R:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @pointwise
// CHECK-SAME:    %[[A:.+]]: tensor<2x32x32x16xf16>, %[[B:.+]]: tensor<1x1x16x32xf16>
// CHECK:         %[[S:.+]] = tensor.extract_slice %[[B]][0, 0, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : tensor<1x1x16x32xf16> to tensor<16x32xf16>
// CHECK:         tessera.contract ins(%[[A]], %[[S]] : {{.*}} maps [#[[L]], #[[R]], #[[O]]]
func.func @pointwise(%a: tensor<2x32x32x16xf16>, %b: tensor<1x1x16x32xf16>, %c: tensor<2x32x32x32xf32>)
    -> tensor<2x32x32x32xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<2x32x32x16xf16>, tensor<1x1x16x32xf16>)
      outs(%c : tensor<2x32x32x32xf32>) -> tensor<2x32x32x32xf32>
  return %r : tensor<2x32x32x32xf32>
}

// -----

// A window as large as the image moves nowhere.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d5, d6)>
// CHECK-DAG: #[[R:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-LABEL: func @whole_image
// CHECK:         tessera.contract {{.*}} maps [#[[L]], #[[R]],
func.func @whole_image(%a: tensor<8x7x7x16xf16>, %b: tensor<7x7x16x32xf16>, %c: tensor<8x1x1x32xf32>)
    -> tensor<8x1x1x32xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<8x7x7x16xf16>, tensor<7x7x16x32xf16>)
      outs(%c : tensor<8x1x1x32xf32>) -> tensor<8x1x1x32xf32>
  return %r : tensor<8x1x1x32xf32>
}

// -----

// Generic, with the casts in its body; and a multiplier for each channel.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3) -> (d0 * 2 + d2, d3)>
// CHECK-LABEL: func @generic
// CHECK:         tessera.contract {{.*}} maps [#[[L]], {{.*}} accumulate i32 unsigned_a
// CHECK:         tessera.contract ins(%{{.*}} : tensor<1x34x34x16xf32>, tensor<3x3x16x8xf32>)
func.func @generic(%a: tensor<65x16xi8>, %b: tensor<3x16x8xi8>, %c: tensor<32x8xi32>,
                   %x: tensor<1x34x34x16xf32>, %y: tensor<3x3x16x8xf32>, %z: tensor<1x32x32x16x8xf32>)
    -> (tensor<32x8xi32>, tensor<1x32x32x16x8xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(w, f, s, c) -> (w * 2 + s, c)>,
                                        affine_map<(w, f, s, c) -> (s, c, f)>,
                                        affine_map<(w, f, s, c) -> (w, f)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<65x16xi8>, tensor<3x16x8xi8>) outs(%c : tensor<32x8xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %pw = arith.extui %p : i8 to i32
    %qw = arith.extsi %q : i8 to i32
    %m = arith.muli %pw, %qw : i32
    %s = arith.addi %acc, %m : i32
    linalg.yield %s : i32
  } -> tensor<32x8xi32>
  %t = linalg.depthwise_conv_2d_nhwc_hwcm ins(%x, %y : tensor<1x34x34x16xf32>, tensor<3x3x16x8xf32>)
      outs(%z : tensor<1x32x32x16x8xf32>) -> tensor<1x32x32x16x8xf32>
  return %r, %t : tensor<32x8xi32>, tensor<1x32x32x16x8xf32>
}

// -----

// Initial value, epilogue and attributes are as for any contraction.

// CHECK-LABEL: func @bias_relu
// CHECK-SAME:    %{{.*}}, %{{.*}}, %[[BIAS:.+]]: tensor<32xf32>
// CHECK:         tessera.contract {{.*}} init(%{{.*}} : f32) extras(%[[BIAS]] : tensor<32xf32>)
// CHECK-SAME:      schedule <workgroup = [64, 32], subgroup = [32, 32]
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32, %[[E:.+]]: f32):
// CHECK-NEXT:      %[[S:.+]] = arith.addf %[[ACC]], %[[E]] : f32
// CHECK-NEXT:      %[[M:.+]] = arith.maximumf %[[S]], %{{.*}} : f32
// CHECK-NEXT:      tessera.yield %[[M]] : f32
// CHECK-NOT:     linalg
func.func @bias_relu(%a: tensor<2x34x34x16xf16>, %b: tensor<3x3x16x32xf16>, %bias: tensor<32xf32>) -> tensor<2x32x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x32x32x32xf32>
  %c = linalg.broadcast ins(%bias : tensor<32xf32>) outs(%e : tensor<2x32x32x32xf32>) dimensions = [0, 1, 2]
  %r = linalg.conv_2d_nhwc_hwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32],
                                                                      k = 16, kFragment = 16, stages = 2>}
      ins(%a, %b : tensor<2x34x34x16xf16>, tensor<3x3x16x32xf16>)
      outs(%c : tensor<2x32x32x32xf32>) -> tensor<2x32x32x32xf32>
  %s = linalg.map ins(%r : tensor<2x32x32x32xf32>) outs(%e : tensor<2x32x32x32xf32>)
    (%x: f32, %out: f32) {
      %m = arith.maximumf %x, %zero : f32
      linalg.yield %m : f32
    }
  return %s : tensor<2x32x32x32xf32>
}

// -----

// Zero points that are zero are none; others are split off (zero-points.mlir).

// CHECK-LABEL: func @zero_points
// CHECK:         tessera.contract ins(%{{.*}} : tensor<2x34x34x16xi8>, tensor<3x3x16x32xi8>) {{.*}} accumulate i32 {
// CHECK-NOT:     linalg.conv_2d_nhwc_hwcf_q
// CHECK:         tessera.contract ins(%{{.*}} : tensor<2x34x34x16xi8>, tensor<3x3x16x32xi8>)
// CHECK-NOT:     linalg.conv_2d_nhwc_hwcf_q
func.func @zero_points(%a: tensor<2x34x34x16xi8>, %b: tensor<3x3x16x32xi8>, %c: tensor<2x32x32x32xi32>, %z: i32)
    -> (tensor<2x32x32x32xi32>, tensor<2x32x32x32xi32>) {
  %zero = arith.constant 0 : i32
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%a, %b, %zero, %zero : tensor<2x34x34x16xi8>, tensor<3x3x16x32xi8>, i32, i32)
      outs(%c : tensor<2x32x32x32xi32>) -> tensor<2x32x32x32xi32>
  %s = linalg.conv_2d_nhwc_hwcf_q ins(%a, %b, %z, %zero : tensor<2x34x34x16xi8>, tensor<3x3x16x32xi8>, i32, i32)
      outs(%c : tensor<2x32x32x32xi32>) -> tensor<2x32x32x32xi32>
  return %r, %s : tensor<2x32x32x32xi32>, tensor<2x32x32x32xi32>
}
