#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's code for a matmul of f16 with sums in f32, without a device.

    benchmarks/amd-triton.py --chip=gfx942 --block=128x128x64 --warps=4 --stages=2 -o FILE.s

Triton comes from PyPI (pip install triton). benchmarks/amd-static.py reads what it writes.
"""

import argparse

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    of_a = a + rows[:, None] * K + steps[None, :]
    of_b = b + steps[:, None] * N + cols[None, :]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        sums = tl.dot(tl.load(of_a), tl.load(of_b), sums)
        of_a += BK
        of_b += BK * N
    tl.store(c + rows[:, None] * N + cols[None, :], sums)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chip", required=True)
    parser.add_argument("--block", default="128x128x64")
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--stages", type=int, default=2)
    parser.add_argument("-o", dest="output", required=True)
    options = parser.parse_args()
    m, n, k = map(int, options.block.split("x"))
    source = ASTSource(
        fn=matmul,
        signature={"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32",
                   "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"},
        constexprs={(6,): m, (7,): n, (8,): k},
        attrs={(i,): [["tt.divisibility", 16]] for i in range(6)},
    )
    lanes = 64 if options.chip.startswith("gfx9") else 32
    kernel = triton.compile(source, target=GPUTarget("hip", options.chip, lanes),
                            options={"num_warps": options.warps, "num_stages": options.stages})
    with open(options.output, "w") as file:
        file.write(kernel.asm["amdgcn"])


if __name__ == "__main__":
    main()
