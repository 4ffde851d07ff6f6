func.func @main(%in: tensor<1x34x34x32xf16>, %filter: tensor<3x3x32xf16>) -> tensor<1x32x32x32xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x32x32x32xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<1x32x32x32xf16>) -> tensor<1x32x32x32xf16>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 64>}
      ins(%in, %filter : tensor<1x34x34x32xf16>, tensor<3x3x32xf16>) outs(%z : tensor<1x32x32x32xf16>) -> tensor<1x32x32x32xf16>
  %relu = linalg.max ins(%r, %z : tensor<1x32x32x32xf16>, tensor<1x32x32x32xf16>) outs(%e : tensor<1x32x32x32xf16>) -> tensor<1x32x32x32xf16>
  return %relu : tensor<1x32x32x32xf16>
}
