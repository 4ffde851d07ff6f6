// One step of K, with the channels of an image first: persistent workgroups load the next tile while
// they store one. The model alone would choose workgroups of one tile and one stage.
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=schedule | FileCheck %s
// CHECK: // main, {{.*}}persistent = 132,

func.func @main(%a: tensor<32x64x56x56xf16>, %b: tensor<256x64x1x1xf16>) -> tensor<32x256x56x56xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x256x56x56xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x256x56x56xf32>) -> tensor<32x256x56x56xf32>
  %sums = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<32x64x56x56xf16>, tensor<256x64x1x1xf16>) outs(%init : tensor<32x256x56x56xf32>) -> tensor<32x256x56x56xf32>
  %result = arith.truncf %sums : tensor<32x256x56x56xf32> to tensor<32x256x56x56xf16>
  return %result : tensor<32x256x56x56xf16>
}
