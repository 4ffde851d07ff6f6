// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-NOT: tessera.contract

func.func @dot(%a: tensor<32xf32>, %b: tensor<32xf32>, %c: tensor<f32>) -> tensor<f32> {
  // expected-remark @+1 {{does not use matrix instructions: it has neither an M nor an N dimension}}
  %r = linalg.dot ins(%a, %b : tensor<32xf32>, tensor<32xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @one_sided_sum(%a: tensor<64x32x5xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // expected-remark @+1 {{a reduction dimension indexes only one operand}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, j) -> (m, k, j)>, affine_map<(m, n, k, j) -> (k, n)>,
                         affine_map<(m, n, k, j) -> (m, n)>],
                    iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<64x32x5xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

func.func @types(%a: tensor<64x32xi16>, %b: tensor<32x48xi16>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  // expected-remark @+1 {{does not use matrix instructions: matrix instructions do not support i16 x i16}}
  %r = linalg.matmul ins(%a, %b : tensor<64x32xi16>, tensor<32x48xi16>)
      outs(%c : tensor<64x48xi32>) -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// -----

func.func @wide_sum(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf64>) -> tensor<64x48xf64> {
  // expected-remark @+1 {{does not use matrix instructions: it accumulates in f64, but the accumulator type for f32 x f32 is f32}}
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf64>) -> tensor<64x48xf64>
  return %r : tensor<64x48xf64>
}

// -----

func.func @output_type(%a: tensor<64x32xi8>, %b: tensor<32x48xi8>, %c: tensor<64x48xi16>) -> tensor<64x48xi16> {
  // expected-remark @+1 {{its output has elements of i16, which fragments do not support}}
  %r = linalg.matmul ins(%a, %b : tensor<64x32xi8>, tensor<32x48xi8>)
      outs(%c : tensor<64x48xi16>) -> tensor<64x48xi16>
  return %r : tensor<64x48xi16>
}

// -----

// A matrix unit would compute columns of which only one is used.

func.func @convolution(%a: tensor<66xf32>, %b: tensor<3xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
  // expected-remark @+1 {{it is a convolution without an N dimension}}
  %r = linalg.conv_1d ins(%a, %b : tensor<66xf32>, tensor<3xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// -----

func.func @depthwise(%a: tensor<1x34x34x16xf32>, %b: tensor<3x3x16xf32>, %c: tensor<1x32x32x16xf32>)
    -> tensor<1x32x32x16xf32> {
  // expected-remark @+1 {{it is a convolution without an N dimension}}
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%a, %b : tensor<1x34x34x16xf32>, tensor<3x3x16xf32>)
      outs(%c : tensor<1x32x32x16xf32>) -> tensor<1x32x32x16xf32>
  return %r : tensor<1x32x32x16xf32>
}

// -----

func.func @one_filter(%a: tensor<1x34x34x16xf32>, %b: tensor<3x3x16x1xf32>, %c: tensor<1x32x32x1xf32>)
    -> tensor<1x32x32x1xf32> {
  // expected-remark @+1 {{it is a convolution without an N dimension}}
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x34x34x16xf32>, tensor<3x3x16x1xf32>)
      outs(%c : tensor<1x32x32x1xf32>) -> tensor<1x32x32x1xf32>
  return %r : tensor<1x32x32x1xf32>
}

// -----

func.func @diagonal(%a: tensor<32x32xf32>, %b: tensor<32x48xf32>, %c: tensor<48xf32>) -> tensor<48xf32> {
  // expected-remark @+1 {{a dimension indexes an operand twice}}
  %r = linalg.generic {indexing_maps = [affine_map<(n, k) -> (k, k)>, affine_map<(n, k) -> (k, n)>,
                                        affine_map<(n, k) -> (n)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<32x32xf32>, tensor<32x48xf32>) outs(%c : tensor<48xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// -----

// Not a contraction at all: no remark.

func.func @max_plus(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%c : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %s = arith.addf %x, %y : f32
    %m = arith.maximumf %s, %acc : f32
    linalg.yield %m : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}
