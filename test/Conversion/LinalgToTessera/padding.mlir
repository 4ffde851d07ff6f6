// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file --verify-diagnostics | FileCheck %s

// Zeros around the image: a window reads outside of it.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4 - 1, d2 * 2 + d5 - 2, d6)>
// CHECK-LABEL: func @pad
// CHECK-SAME:    %[[A:.+]]: tensor<2x32x32x16xf16>, %[[B:.+]]: tensor<3x3x16x32xf16>
// CHECK-NOT:     tensor.pad
// CHECK:         tessera.contract ins(%[[A]], %[[B]] : tensor<2x32x32x16xf16>, tensor<3x3x16x32xf16>) {{.*}} maps [#[[L]],
func.func @pad(%a: tensor<2x32x32x16xf16>, %b: tensor<3x3x16x32xf16>, %c: tensor<2x16x17x32xf32>) -> tensor<2x16x17x32xf32> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %a low[0, 1, 2, 0] high[0, 0, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %ch: index):
    tensor.yield %zero : f16
  } : tensor<2x32x32x16xf16> to tensor<2x33x35x16xf16>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %b : tensor<2x33x35x16xf16>, tensor<3x3x16x32xf16>)
      outs(%c : tensor<2x16x17x32xf32>) -> tensor<2x16x17x32xf32>
  return %r : tensor<2x16x17x32xf32>
}

// -----

// The high padding may be dynamic; a transposition and a widening lie between.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1 + d4 - 1, d0, d2 + d5 - 1, d6)>
// CHECK-LABEL: func @between
// CHECK-SAME:    %[[A:.+]]: tensor<?x2x?x16xf16>, %[[B:.+]]: tensor<3x3x16x32xf16>
// CHECK-NOT:     tensor.pad
// CHECK:         tessera.contract ins(%[[A]], %[[B]] : tensor<?x2x?x16xf16>, tensor<3x3x16x32xf16>) {{.*}} maps [#[[L]],
func.func @between(%a: tensor<?x2x?x16xf16>, %b: tensor<3x3x16x32xf16>, %c: tensor<2x?x?x32xf32>,
                   %h: index, %w: index, %high: index) -> tensor<2x?x?x32xf32> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty(%h, %w) : tensor<2x?x?x16xf16>
  %t = linalg.transpose ins(%a : tensor<?x2x?x16xf16>) outs(%e : tensor<2x?x?x16xf16>) permutation = [1, 0, 2, 3]
  %p = tensor.pad %t low[0, 1, 1, 0] high[0, %high, %high, 0] {
  ^bb0(%n: index, %i: index, %j: index, %ch: index):
    tensor.yield %zero : f16
  } : tensor<2x?x?x16xf16> to tensor<2x?x?x16xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %b : tensor<2x?x?x16xf16>, tensor<3x3x16x32xf16>)
      outs(%c : tensor<2x?x?x32xf32>) -> tensor<2x?x?x32xf32>
  return %r : tensor<2x?x?x32xf32>
}

// -----

// The image is put into a tensor of zeros; two convolutions read it.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3 - 1, d4)>
// CHECK-LABEL: func @insert
// CHECK-SAME:    %[[A:.+]]: tensor<2x32x16xi8>
// CHECK-NOT:     tensor.insert_slice
// CHECK:         tessera.contract ins(%[[A]], {{.*}} maps [#[[L]],
// CHECK:         tessera.contract ins(%[[A]], {{.*}} maps [#[[L]],
func.func @insert(%a: tensor<2x32x16xi8>, %b: tensor<3x16x32xi8>, %b2: tensor<3x16x32xi8>, %c: tensor<2x32x32xi32>)
    -> (tensor<2x32x32xi32>, tensor<2x32x32xi32>) {
  %zero = arith.constant 0 : i8
  %e = tensor.empty() : tensor<2x34x16xi8>
  %f = linalg.fill ins(%zero : i8) outs(%e : tensor<2x34x16xi8>) -> tensor<2x34x16xi8>
  %p = tensor.insert_slice %a into %f[0, 1, 0] [2, 32, 16] [1, 1, 1] : tensor<2x32x16xi8> into tensor<2x34x16xi8>
  %r = linalg.conv_1d_nwc_wcf ins(%p, %b : tensor<2x34x16xi8>, tensor<3x16x32xi8>)
      outs(%c : tensor<2x32x32xi32>) -> tensor<2x32x32xi32>
  %s = linalg.conv_1d_nwc_wcf ins(%p, %b2 : tensor<2x34x16xi8>, tensor<3x16x32xi8>)
      outs(%c : tensor<2x32x32xi32>) -> tensor<2x32x32xi32>
  return %r, %s : tensor<2x32x32xi32>, tensor<2x32x32xi32>
}

// -----

// Padding that is not fused, with the reason.

// CHECK-LABEL: func @other_value
// CHECK:         tensor.pad
// CHECK:         tessera.contract
func.func @other_value(%a: tensor<2x32x16xf32>, %b: tensor<3x16x32xf32>, %c: tensor<2x32x32xf32>) -> tensor<2x32x32xf32> {
  %one = arith.constant 1.0 : f32
  // expected-remark @+1 {{not fused into the matmul: it pads with values other than zero}}
  %p = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%n: index, %w: index, %ch: index):
    tensor.yield %one : f32
  } : tensor<2x32x16xf32> to tensor<2x34x16xf32>
  %r = linalg.conv_1d_nwc_wcf ins(%p, %b : tensor<2x34x16xf32>, tensor<3x16x32xf32>)
      outs(%c : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  return %r : tensor<2x32x32xf32>
}

// -----

// CHECK-LABEL: func @other_user
// CHECK:         tensor.pad
// CHECK:         tessera.contract
func.func @other_user(%a: tensor<2x32x16xf32>, %b: tensor<3x16x32xf32>, %c: tensor<2x32x32xf32>)
    -> (tensor<2x32x32xf32>, tensor<2x34x16xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{it has users that are not matmuls}}
  %p = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%n: index, %w: index, %ch: index):
    tensor.yield %zero : f32
  } : tensor<2x32x16xf32> to tensor<2x34x16xf32>
  %r = linalg.conv_1d_nwc_wcf ins(%p, %b : tensor<2x34x16xf32>, tensor<3x16x32xf32>)
      outs(%c : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  return %r, %p : tensor<2x32x32xf32>, tensor<2x34x16xf32>
}

// -----

// CHECK-LABEL: func @dynamic_low
// CHECK:         tensor.pad
// CHECK:         tessera.contract
func.func @dynamic_low(%a: tensor<2x32x16xf32>, %b: tensor<3x16x32xf32>, %c: tensor<2x?x32xf32>, %low: index)
    -> tensor<2x?x32xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{its low padding is not constant}}
  %p = tensor.pad %a low[0, %low, 0] high[0, 1, 0] {
  ^bb0(%n: index, %w: index, %ch: index):
    tensor.yield %zero : f32
  } : tensor<2x32x16xf32> to tensor<2x?x16xf32>
  %r = linalg.conv_1d_nwc_wcf ins(%p, %b : tensor<2x?x16xf32>, tensor<3x16x32xf32>)
      outs(%c : tensor<2x?x32xf32>) -> tensor<2x?x32xf32>
  return %r : tensor<2x?x32xf32>
}

// -----

// CHECK-LABEL: func @channels
// CHECK:         tensor.pad
// CHECK:         tessera.contract
func.func @channels(%a: tensor<2x34x15xf32>, %b: tensor<3x16x32xf32>, %c: tensor<2x32x32xf32>) -> tensor<2x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{it pads a dimension that is not indexed by a window}}
  %p = tensor.pad %a low[0, 0, 0] high[0, 0, 1] {
  ^bb0(%n: index, %w: index, %ch: index):
    tensor.yield %zero : f32
  } : tensor<2x34x15xf32> to tensor<2x34x16xf32>
  %r = linalg.conv_1d_nwc_wcf ins(%p, %b : tensor<2x34x16xf32>, tensor<3x16x32xf32>)
      outs(%c : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  return %r : tensor<2x32x32xf32>
}
