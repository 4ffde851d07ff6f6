// Convolutions of images that TMA loads, by warpgroups. The default has tiles of single subgroups for some of these, which
// have few positions.

func.func @same(%image: tensor<3x13x11x64xf16>, %filter: tensor<3x3x64x128xf16>) -> tensor<3x13x11x128xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<3x13x11x64xf16> to tensor<3x15x13x64xf16>
  %empty = tensor.empty() : tensor<3x13x11x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x13x11x128xf32>) -> tensor<3x13x11x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 9, swizzle = true, subgroupsPerFragment = 4>, strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<3x15x13x64xf16>, tensor<3x3x64x128xf16>) outs(%init : tensor<3x13x11x128xf32>) -> tensor<3x13x11x128xf32>
  return %r : tensor<3x13x11x128xf32>
}

func.func @narrow(%image: tensor<2x14x15x96xf16>, %filter: tensor<3x3x96x160xf16>) -> tensor<2x14x15x160xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x14x15x96xf16> to tensor<2x16x17x96xf16>
  %empty = tensor.empty() : tensor<2x14x15x160xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x14x15x160xf32>) -> tensor<2x14x15x160xf32>
  %r = linalg.conv_2d_nhwc_hwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 32, stages = 7, swizzle = true, splitK = 4, subgroupsPerFragment = 4>, strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x16x17x96xf16>, tensor<3x3x96x160xf16>) outs(%init : tensor<2x14x15x160xf32>) -> tensor<2x14x15x160xf32>
  return %r : tensor<2x14x15x160xf32>
}

func.func @line(%image: tensor<5x77x64xf16>, %filter: tensor<5x64x128xf16>) -> tensor<5x38x128xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 2, 0] high[0, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index):
    tensor.yield %none : f16
  } : tensor<5x77x64xf16> to tensor<5x80x64xf16>
  %empty = tensor.empty() : tensor<5x38x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x38x128xf32>) -> tensor<5x38x128xf32>
  %r = linalg.conv_1d_nwc_wcf {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 5, swizzle = true, subgroupsPerFragment = 4>, strides = dense<[2]> : tensor<1xi64>, dilations = dense<[1]> : tensor<1xi64>}
      ins(%padded, %filter : tensor<5x80x64xf16>, tensor<5x64x128xf16>) outs(%init : tensor<5x38x128xf32>) -> tensor<5x38x128xf32>
  return %r : tensor<5x38x128xf32>
}

func.func @volume(%image: tensor<2x6x7x8x64xf16>, %filter: tensor<3x2x3x64x64xf16>) -> tensor<2x6x4x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 0, 2, 0] high[0, 1, 1, 2, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index, %4: index):
    tensor.yield %none : f16
  } : tensor<2x6x7x8x64xf16> to tensor<2x8x8x12x64xf16>
  %empty = tensor.empty() : tensor<2x6x4x8x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6x4x8x64xf32>) -> tensor<2x6x4x8x64xf32>
  %r = linalg.conv_3d_ndhwc_dhwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, splitK = 6, subgroupsPerFragment = 4>, strides = dense<[1, 2, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 2]> : tensor<3xi64>}
      ins(%padded, %filter : tensor<2x8x8x12x64xf16>, tensor<3x2x3x64x64xf16>) outs(%init : tensor<2x6x4x8x64xf32>) -> tensor<2x6x4x8x64xf32>
  return %r : tensor<2x6x4x8x64xf32>
}
