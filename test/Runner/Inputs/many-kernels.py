# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program of 22 kernels that update an argument one after the other."""

print("func.func @main(%m: memref<64xf32>) {")
for k in range(22):
    print(f"""  %c{k} = arith.constant {k + 1}.0 : f32
  linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      outs(%m : memref<64xf32>) {{
  ^bb0(%x: f32):
    %y = arith.subf %c{k}, %x : f32
    linalg.yield %y : f32
  }}""")
print("  return\n}")
