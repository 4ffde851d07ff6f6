// The computation of conv_f16 of gather.mlir, in linalg.
func.func @main(%image: tensor<2x15x15x16xf16>, %filter: tensor<144x24xf16>) -> tensor<128x24xf32> {
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %y: index, %x: index, %c: index):
    tensor.yield %none : f16
  } : tensor<2x15x15x16xf16> to tensor<2x17x17x16xf16>
  %taps = tensor.expand_shape %filter [[0, 1, 2], [3]] output_shape [3, 3, 16, 24]
      : tensor<144x24xf16> into tensor<3x3x16x24xf16>
  %empty = tensor.empty() : tensor<2x8x8x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x8x8x24xf32>) -> tensor<2x8x8x24xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%padded, %taps : tensor<2x17x17x16xf16>, tensor<3x3x16x24xf16>)
      outs(%init : tensor<2x8x8x24xf32>) -> tensor<2x8x8x24xf32>
  %out = tensor.collapse_shape %conv [[0, 1, 2], [3]] : tensor<2x8x8x24xf32> into tensor<128x24xf32>
  return %out : tensor<128x24xf32>
}
