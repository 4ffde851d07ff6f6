// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maxima and minima of windows over numbers of which some are NaN and some
// infinite, of both signs.

#map = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @main(%x: tensor<1x17x17x8xf16>) -> (tensor<1x8x8x8xf16>, tensor<1x8x8x8xf16>) {
  %nan = arith.constant 0x7E00 : f16
  %infinity = arith.constant 0x7C00 : f16
  %negative = arith.constant 0xFC00 : f16
  %most = arith.constant 0.98 : f16
  %more = arith.constant 0.95 : f16
  %less = arith.constant -0.95 : f16
  %ex = tensor.empty() : tensor<1x17x17x8xf16>
  %y = linalg.generic {indexing_maps = [#map, #map],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x17x17x8xf16>) outs(%ex : tensor<1x17x17x8xf16>) {
  ^bb0(%a: f16, %o: f16):
    %0 = arith.cmpf ogt, %a, %most : f16
    %1 = arith.cmpf ogt, %a, %more : f16
    %2 = arith.cmpf olt, %a, %less : f16
    %3 = arith.select %1, %infinity, %a : f16
    %4 = arith.select %2, %negative, %3 : f16
    %5 = arith.select %0, %nan, %4 : f16
    linalg.yield %5 : f16
  } -> tensor<1x17x17x8xf16>
  %w = tensor.empty() : tensor<3x3xf16>
  %e = tensor.empty() : tensor<1x8x8x8xf16>
  %i = linalg.fill ins(%negative : f16) outs(%e : tensor<1x8x8x8xf16>) -> tensor<1x8x8x8xf16>
  %j = linalg.fill ins(%infinity : f16) outs(%e : tensor<1x8x8x8xf16>) -> tensor<1x8x8x8xf16>
  %max = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%y, %w : tensor<1x17x17x8xf16>, tensor<3x3xf16>)
      outs(%i : tensor<1x8x8x8xf16>) -> tensor<1x8x8x8xf16>
  %min = linalg.pooling_nhwc_min {strides = dense<2> : tensor<2xi64>}
      ins(%y, %w : tensor<1x17x17x8xf16>, tensor<3x3xf16>)
      outs(%j : tensor<1x8x8x8xf16>) -> tensor<1x8x8x8xf16>
  return %max, %min : tensor<1x8x8x8xf16>, tensor<1x8x8x8xf16>
}
