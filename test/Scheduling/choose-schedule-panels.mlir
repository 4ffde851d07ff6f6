// Panels of 64 bytes where one tile has all columns, and not where it takes several: there rows of
// lhs are the columns of tiles, one for each SM, of any multiple of eight.
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=schedule | FileCheck %s
// CHECK: // one_tile, {{.*}}workgroup = [64, 96], subgroup = [64, 96]
// CHECK: // several_tiles, {{.*}}workgroup = [64, 80], subgroup = [64, 80]

func.func @one_tile(%a: tensor<8192x320xbf16>, %b: tensor<320x96xbf16>) -> tensor<8192x96xbf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<8192x96xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<8192x96xf32>) -> tensor<8192x96xf32>
  %product = linalg.matmul ins(%a, %b : tensor<8192x320xbf16>, tensor<320x96xbf16>) outs(%init : tensor<8192x96xf32>) -> tensor<8192x96xf32>
  %result = arith.truncf %product : tensor<8192x96xf32> to tensor<8192x96xbf16>
  return %result : tensor<8192x96xbf16>
}

func.func @several_tiles(%a: tensor<32x8x8x1280xf16>, %b: tensor<1x1x1280x320xf16>) -> tensor<32x8x8x320xf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<32x8x8x320xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<32x8x8x320xf32>) -> tensor<32x8x8x320xf32>
  %product = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<32x8x8x1280xf16>, tensor<1x1x1280x320xf16>) outs(%init : tensor<32x8x8x320xf32>) -> tensor<32x8x8x320xf32>
  %result = arith.truncf %product : tensor<32x8x8x320xf32> to tensor<32x8x8x320xf16>
  return %result : tensor<32x8x8x320xf16>
}
