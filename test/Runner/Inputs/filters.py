# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a convolution whose filter is a large constant, as hexadecimal digits."""
import struct

values = [i * 7 % 13 - 6 for i in range(16 * 8 * 3 * 3)]
digits = b"".join(struct.pack("<f", value) for value in values).hex().upper()
print(f"""func.func @main(%image: tensor<1x8x12x12xf32>) -> tensor<1x16x10x10xf32> {{
  %filter = arith.constant dense<"0x{digits}"> : tensor<16x8x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x16x10x10xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x16x10x10xf32>) -> tensor<1x16x10x10xf32>
  %out = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x8x12x12xf32>, tensor<16x8x3x3xf32>)
      outs(%init : tensor<1x16x10x10xf32>) -> tensor<1x16x10x10xf32>
  return %out : tensor<1x16x10x10xf32>
}}""")
