#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates transposing reads for each lane, and compares them with the operand that the matmul expects.

    gpu-opt kernels.mlir ... | transposed.py NAME:swizzled:K:N NAME:plain:K:N...

Each function named loads operand b of its first matmul from row K and column N on of the second tile of its
workgroup memory, by `amdgpu.transpose_load`; the tile is swizzled or plain.
The model of the instruction is docs/AMD.md's, that of a swizzled tile the one in Swizzle.cpp, and the operand of
a matmul of MxNxK has K / (64 / N) elements of a column in each lane, in runs of 16 bytes or less, as AMD's matrix
instruction calculator prints it.
"""

import re
import sys

LANES = 64
OPS = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b,
    "divui": lambda a, b: a // b, "remui": lambda a, b: a % b, "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b, "xori": lambda a, b: a ^ b, "shrui": lambda a, b: a >> b,
    "shli": lambda a, b: a << b,
}


def read_transposed(addresses, bits):
    """The elements of each lane, given the first element's offset of each lane."""
    count = 64 // bits
    lanes_of_row = 16 // count
    result = []
    for lane in range(LANES):
        group, column = lane // 16 * 16, lane % 16
        result.append([addresses[group + row * lanes_of_row + column // count] + column % count
                       for row in range(count)])
    return result


def kept_at(row, column, shape, bits, swizzled):
    """Where the tile has an element."""
    rows, columns = shape
    if not swizzled:
        return row * columns + column
    chunk, panel = 128 // bits, 1024 // bits
    width = min(columns, panel)
    phases = width // chunk
    phase = row // (panel // width) % phases
    inner = column % width ^ phase * chunk
    return (column // width * rows + row) * width + inner


def check(name, body, swizzled, k0, n0):
    """The number of elements compared."""
    values, types = {}, {}
    for line in body:
        line = line.strip()
        if match := re.match(r"(%\S+) = arith.constant (-?\d+) : index", line):
            values[match[1]] = [int(match[2])] * LANES
        elif match := re.match(r"(%\S+) = gpu.lane_id", line):
            values[match[1]] = list(range(LANES))
        elif (match := re.match(r"(%\S+) = arith.(\w+) (%\S+), (%\S+) : index", line)) and match[2] in OPS:
            if match[3] in values and match[4] in values:
                values[match[1]] = [OPS[match[2]](a, b) for a, b in zip(values[match[3]], values[match[4]])]
        elif match := re.match(r"(%\S+) = amdgpu.transpose_load %\S+\[(.*?)\] : memref<([\dx]+)x[a-z]+(\d+)\w*?"
                               r"(?:, strided<\[([\d, ]+)\](?:, offset: (\d+))?>)?, #", line):
            shape = [int(size) for size in match[3].split("x")]
            strides = [int(s) for s in match[5].split(",")] if match[5] else [shape[-1], 1][-len(shape):]
            indices = [values[index.strip()] for index in match[2].split(",")]
            bits = int(match[4])
            addresses = [sum(index[lane] * stride for index, stride in zip(indices, strides)) + int(match[6] or 0)
                         for lane in range(LANES)]
            values[match[1]] = read_transposed(addresses, bits)
        elif match := re.match(r"(%\S+) = vector.shuffle (%\S+), (%\S+) \[([\d, ]+)\]", line):
            if match[2] in values and match[3] in values:
                values[match[1]] = [[(a + b)[int(i)] for i in match[4].split(",")]
                                    for a, b in zip(values[match[2]], values[match[3]])]
        elif match := re.match(r"\S+ = amdgpu.mfma (\d+)x(\d+)x(\d+) \S+ \* (%\S+)", line):
            n, k = int(match[2]), int(match[3])
            count = k * n // LANES
            found = values[match[4]]
            tile = types["tile"]
            run = min(count, 128 // tile[1])
            for lane in range(LANES):
                for i in range(count):
                    row = k0 + (i // run * (LANES // n) + lane // n) * run + i % run
                    column = n0 + lane % n
                    expected = kept_at(row, column, *tile, swizzled)
                    if found[lane][i] != expected:
                        sys.exit(f"error: {name}: element {i} of lane {lane} is at {found[lane][i]}, not {expected}")
            return LANES * count
        if match := re.search(r"workgroup\(.*?, %\S+ : memref<(\d+)x(\d+)x([a-z]+\d+)", line):
            types["tile"] = ((int(match[1]), int(match[2])), int(re.search(r"\d+", match[3])[0]))
    sys.exit(f"error: {name}: no matmul of operands that were read")


def main():
    names = [argument.split(":") for argument in sys.argv[1:]]
    text = sys.stdin.read()
    for name, swizzled, k0, n0 in names:
        start = text.index(f"gpu.func @{name}(")
        body = text[start:text.index("gpu.return", start)].splitlines()
        print(f"{name}: {check(name, body, swizzled == 'swizzled', int(k0), int(n0))} elements")


if __name__ == "__main__":
    main()
