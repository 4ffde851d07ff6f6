# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One entry for each matmul of a list of shapes (MxNxK:bf16 on a line), as a program."""

import sys

for line in open(sys.argv[1]):
    if line.startswith("#"):
        continue
    shape, element = line.strip().split(":")
    m, n, k = shape.split("x")
    print(f"""func.func @p{m}x{n}x{k}(%a: tensor<{m}x{k}x{element}>, %b: tensor<{k}x{n}x{element}>) -> tensor<{m}x{n}x{element}> {{
  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty() : tensor<{m}x{n}x{element}>
  %i = linalg.fill ins(%zero : {element}) outs(%e : tensor<{m}x{n}x{element}>) -> tensor<{m}x{n}x{element}>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{element}>, tensor<{k}x{n}x{element}>) outs(%i : tensor<{m}x{n}x{element}>) -> tensor<{m}x{n}x{element}>
  return %c : tensor<{m}x{n}x{element}>
}}""")
