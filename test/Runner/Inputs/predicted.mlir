// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @long(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4096x4096xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%i : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
func.func @flat(%a: tensor<65536x64xf16>, %b: tensor<64x64xf16>) -> tensor<65536x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<65536x64xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<65536x64xf16>) -> tensor<65536x64xf16>
  %r = linalg.matmul ins(%a, %b : tensor<65536x64xf16>, tensor<64x64xf16>) outs(%i : tensor<65536x64xf16>) -> tensor<65536x64xf16>
  return %r : tensor<65536x64xf16>
}
func.func @small(%a: tensor<128x128xf16>, %b: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<128x128xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<128x128xf16>) -> tensor<128x128xf16>
  %r = linalg.matmul ins(%a, %b : tensor<128x128xf16>, tensor<128x128xf16>) outs(%i : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %r : tensor<128x128xf16>
}
