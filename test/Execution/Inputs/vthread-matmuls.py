# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs C[v] = A[v] @ B for many grids of virtual threads: the program that breaks elsewhere.

    vthread-matmuls.py FORMS CASES COMMAND...

COMMAND, gpu-runner with its options, is run for each case with the program on its standard input.
FORMS is `kernels` (written by hand, with tessera.vthread), `linalg` (linalg.matmul, whose schedule
has the grid) or `all`; CASES is a regular expression for the cases' names. Prints a line for each
case: its name and the exit status; and of PTX, how many mma.sync and global stores there are.
"""

import concurrent.futures
import re
import subprocess
import sys

# operand type -> result type, zero, K of one fragment
TYPES = {"f16": ("f32", "0.0", 16), "i8": ("i32", "0", 32)}

# Each vthread has a 16x16 tile of C of its own, and computes it in one matmul.
KERNEL = """
func.func @main(%A: memref<{a}x16x{k}x{t}>, %B: memref<{b}x{k}x16x{t}>, %C: memref<{n}x16x16x{acc}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant {zero} : {acc}
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {{
    tessera.vthread ({indices}) in ({grid}) {{
      %v = affine.apply affine_map<({dims}) -> ({linear})>({indices})
      %init = tessera.fill %zero : !tessera.fragment<16x16x{acc}, acc>
      %a = tessera.load %A[{ai}, %c0, %c0] : memref<{a}x16x{k}x{t}> -> !tessera.fragment<16x{k}x{t}, a>
      %b = tessera.load %B[{bi}, %c0, %c0] : memref<{b}x{k}x16x{t}> -> !tessera.fragment<{k}x16x{t}, b>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x{k}x{t}, a>, !tessera.fragment<{k}x16x{t}, b> -> !tessera.fragment<16x16x{acc}, acc>
      tessera.store %c, %C[%v, %c0, %c0] : !tessera.fragment<16x16x{acc}, acc>, memref<{n}x16x16x{acc}>
      tessera.yield
    }}
    gpu.terminator
  }}
  return
}}
"""

# The tile of the one subgroup is cut into a grid of vthreads.
LINALG = """
func.func @main(%A: tensor<{m}x{k}x{t}>, %B: tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{acc}> {{
  %zero = arith.constant {zero} : {acc}
  %empty = tensor.empty() : tensor<{m}x{n}x{acc}>
  %init = linalg.fill ins(%zero : {acc}) outs(%empty : tensor<{m}x{n}x{acc}>) -> tensor<{m}x{n}x{acc}>
  %C = linalg.matmul {{tessera.schedule = #tessera.schedule<
         workgroup = [{m}, {n}], subgroup = [{m}, {n}], k = {k}, kFragment = {k}, stages = {stages},
         vthread = [{rows}, {columns}]>}}
       ins(%A, %B : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>)
       outs(%init : tensor<{m}x{n}x{acc}>) -> tensor<{m}x{n}x{acc}>
  return %C : tensor<{m}x{n}x{acc}>
}}
"""


def kernels():
    """Every grid, with A shared by all vthreads, B shared, and both each vthread's own."""
    for t, (acc, zero, k) in TYPES.items():
        for grid in [(2,), (3,), (4,), (2, 2)]:
            n = 4 if grid == (2, 2) else grid[0]
            for shared in "A", "B", "neither":
                indices = "%i, %j" if len(grid) == 2 else "%i"
                yield f"kernel_{t}_{'x'.join(map(str, grid))}_{shared}", KERNEL.format(
                    a=1 if shared == "A" else n, b=1 if shared == "B" else n, n=n, k=k, t=t,
                    acc=acc, zero=zero, grid=", ".join(map(str, grid)), indices=indices,
                    dims="i, j" if len(grid) == 2 else "i",
                    linear=f"i * {grid[1]} + j" if len(grid) == 2 else "i",
                    ai="%c0" if shared == "A" else "%v", bi="%c0" if shared == "B" else "%v")


def matmuls():
    """Vthreads along M share B, those along N share A."""
    for t, (acc, zero, k) in TYPES.items():
        for rows, columns in [(2, 1), (3, 1), (4, 1), (1, 2), (2, 2)]:
            for stages in 0, 1:  # from global memory, or by way of workgroup memory
                yield f"linalg_{t}_{rows}x{columns}_stages{stages}", LINALG.format(
                    m=16 * rows, n=16 * columns, k=k, t=t, acc=acc, zero=zero, rows=rows,
                    columns=columns, stages=stages)


def run(command, name, program):
    done = subprocess.run([*command, "-"], input=program, capture_output=True, text=True)
    line = f"{name}: {done.returncode}"
    if ".target" in done.stdout:
        line += f", {done.stdout.count('mma.sync')} mma.sync, {done.stdout.count('st.global')} st.global"
    if done.returncode not in (0, 3):
        line += "\n" + done.stderr
    return line


def main():
    forms, pattern, *command = sys.argv[1:]
    cases = [*(kernels() if forms != "linalg" else ()), *(matmuls() if forms != "kernels" else ())]
    cases = [(name, program) for name, program in cases if re.search(pattern, name)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for line in pool.map(lambda case: run(command, *case), cases):
            print(line, flush=True)


main()
