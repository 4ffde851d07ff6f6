#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates the loads to workgroup memory of a kernel for each thread, and compares what they copy with the tile.

    gpu-opt kernels.mlir ... | lds_loads.py NAME:swizzled:THREADS:ROW:COLUMN NAME:plain:THREADS:ROW:COLUMN...

Each function named copies one tile from (ROW, COLUMN) of its first argument, a matrix, to the first slot of its
workgroup memory by `rocdl.raw.ptr.buffer.load.lds`. Its other arguments are indices, with the value ROW. Lane l of
a load reads at the buffer's base plus the vector, the scalar and the immediate offset, and writes to the pointer
plus the immediate offset plus l times the load's size, where the pointer is that of the subgroup's first lane.
The model of a swizzled tile is the one in Swizzle.cpp.
"""

import re
import sys

from transposed import LANES, OPS, kept_at


def first_lanes(values):
    return [values[thread // LANES * LANES] for thread in range(len(values))]


def evaluate(body, threads, row):
    """The memory types, and for each load: size, pointers, vector, scalar and immediate offsets of all threads."""
    values, loads, types = {}, [], []
    for line in body:
        line = line.strip()
        if match := re.match(r"gpu.func @\w+\(%\S+: memref<(.*?)>(.*?)\) workgroup\(%\S+ : memref<(.*?), #", line):
            types = [match[1], match[3]]
            values |= {name: [row] * threads for name in re.findall(r"(%\w+): index", match[2])}
        elif match := re.match(r"(%\S+) = arith.constant (-?\d+) : (?:index|i\d+)", line):
            values[match[1]] = [int(match[2])] * threads
        elif match := re.match(r"(%\S+) = gpu.thread_id +x", line):
            values[match[1]] = list(range(threads))
        elif match := re.match(r"(%\S+) = memref.extract_aligned_pointer_as_index", line):
            values[match[1]] = [0] * threads
        elif match := re.match(r"(%\S+) = rocdl.readfirstlane (%\S+)", line):
            values[match[1]] = first_lanes(values[match[2]])
        elif match := re.match(r"(%\S+) = (?:arith.index_cast|llvm.inttoptr|rocdl.make.buffer.rsrc) (%[^ ,]+)", line):
            values[match[1]] = values[match[2]]
        elif (match := re.match(r"(%\S+) = arith.(\w+) (%\S+), (%\S+) : index", line)) and match[2] in OPS:
            values[match[1]] = [OPS[match[2]](a, b) for a, b in zip(values[match[3]], values[match[4]])]
        elif match := re.match(r"rocdl.raw.ptr.buffer.load.lds (.*)", line):
            operands = [values[name] for name in match[1].split(", ")]
            base, pointer, size, vector, scalar, immediate = operands[:6]
            if first_lanes(pointer) != pointer:
                sys.exit("error: the pointer of a load differs between the lanes of a subgroup")
            if not 0 <= immediate[0] < 4096 or scalar[0] < 0 or len(set(scalar)) > 1:
                sys.exit("error: an offset is not one of the instruction's")
            loads.append((size[0], base, pointer, vector, scalar, immediate))
    return types, loads


def check(name, body, swizzled, threads, row, column):
    """The number of elements compared."""
    (source, target), loads = evaluate(body, threads, row)
    bits = int(re.search(r"x[a-z]+(\d+)", source)[1])
    pitch = int(re.findall(r"(\d+)x", source)[1])
    rows, columns = map(int, re.findall(r"(\d+)x", target)[-2:])
    size = bits // 8
    found = {}
    for count, base, pointer, vector, scalar, immediate in loads:
        for thread in range(threads):
            start = base[thread] + vector[thread] + scalar[thread] + immediate[thread]
            end = pointer[thread] + immediate[thread] + thread % LANES * count
            for byte in range(0, count, size):
                if end + byte in found:
                    sys.exit(f"error: {name}: byte {end + byte} is written twice")
                found[end + byte] = start + byte
    for r in range(rows):
        for c in range(columns):
            at = kept_at(r, c, (rows, columns), bits, swizzled) * size
            expected = ((row + r) * pitch + column + c) * size
            if found.get(at) != expected:
                sys.exit(f"error: {name}: row {r}, column {c} is from byte {found.get(at)}, not {expected}")
    return len(found)


def main():
    text = sys.stdin.read()
    for argument in sys.argv[1:]:
        name, swizzled, threads, row, column = argument.split(":")
        start = text.index(f"gpu.func @{name}(")
        body = text[start:text.index("gpu.return", start)].splitlines()
        elements = check(name, body, swizzled == "swizzled", int(threads), int(row), int(column))
        print(f"{name}: {elements} elements by {sum('buffer.load.lds' in line for line in body)} loads")


if __name__ == "__main__":
    main()
