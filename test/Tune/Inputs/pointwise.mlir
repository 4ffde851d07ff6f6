// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of 1x1, whose filter is read through a view without the dimensions of size 1.
func.func @main(%a: tensor<1x6x6x64xf16>, %w: tensor<1x1x64x128xf16>) -> tensor<1x6x6x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x6x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x6x6x128xf32>) -> tensor<1x6x6x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<1x6x6x64xf16>, tensor<1x1x64x128xf16>) outs(%f : tensor<1x6x6x128xf32>) -> tensor<1x6x6x128xf32>
  return %r : tensor<1x6x6x128xf32>
}
