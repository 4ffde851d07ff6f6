# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program with two constants of 4 KiB, one of them used twice.

  constants.py elements|resources [SEED]
"""

import struct
import sys

kind = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 7
contents = {
    "w": b"".join(struct.pack("<f", i * seed % 13 - 6) for i in range(1024)).hex().upper(),
    "v": b"".join(struct.pack("<f", i * 5 % 11 - 5) for i in range(1024)).hex().upper(),
}


def refer(name):
    return f'dense<"0x{contents[name]}">' if kind == "elements" else f"dense_resource<{name}>"


def product(result, left, right, kind):
    return f"""  {result} = linalg.matmul ins({left}, {right} : tensor<8x32x{kind}>, tensor<32x32x{kind}>)
      outs(%zero : tensor<8x32xf32>) -> tensor<8x32xf32>"""


print(f"""// One comment.
func.func @main(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {{
  %w = arith.constant {refer("w")} : tensor<32x32xf32>
  %v = arith.constant {refer("v")} : tensor<32x32xf32>
  %again = arith.constant {refer("w")} : tensor<1024xf32>
  %u = tensor.expand_shape %again [[0, 1]] output_shape [32, 32]
      : tensor<1024xf32> into tensor<32x32xf32>
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
{product("%a", "%x", "%w", "f32")}
  // Follows from a constant alone.
  %e = tensor.empty() : tensor<32x32xf32>
  %t = linalg.transpose ins(%v : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>)
      permutation = [1, 0]
{product("%b", "%a", "%t", "f32")}
{product("%c", "%b", "%u", "f32")}
  return %c : tensor<8x32xf32>
}}""")
if kind == "resources":
    print("{-#\n  dialect_resources: {\n    builtin: {")
    print(",\n".join(f'      {name}: "0x04000000{text}"' for name, text in contents.items()))
    print("    }\n  }\n#-}")
