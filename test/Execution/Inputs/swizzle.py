# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the functions of swizzle.mlir for the types named, with rows of 32 to 256 bytes, and one
that calls them all."""

import pathlib
import re
import sys

TYPES = {
    # name: element, its bytes, sum, zero, K of one instruction, precision
    "f16": ("f16", 2, "f32", "0.0", 16, ""),
    "i8": ("i8", 1, "i32", "0", 32, ""),
    "f32": ("f32", 4, "f32", "0.0", 8, ""),
    "tf32": ("f32", 4, "f32", "0.0", 8, "precision tf32"),
    "f64": ("f64", 8, "f64", "0.0", 4, ""),
}

parameters, calls = [], []
template = pathlib.Path(__file__).with_name("swizzle.mlir").read_text()
for name in sys.argv[1:]:
    element, size, total, zero, depth, precision = TYPES[name]
    for row_bytes in 32, 64, 128, 256:
        width = row_bytes // size
        # Tiles have eight columns.
        if width < 8:
            continue
        text = template
        for key, value in {
            "NAME": f"{name}_{row_bytes}",
            "ELEMENT": element,
            "SUM": total,
            "ZERO": zero,
            "DEPTH": depth,
            "PRECISION": precision,
            "EDGE": "" if width < 16 else "in_bounds",
            "WIDTH": width,
            "STEPS": 2 * width,
        }.items():
            text = text.replace(key, str(value))
        print(text)
        for function, types in re.findall(r"func.func @(\w+)\((.*)\) {", text):
            types = re.findall(r"memref<\w+>", types)
            names = [f"%m{len(parameters) + i}" for i in range(len(types))]
            parameters += [f"{n}: {t}" for n, t in zip(names, types)]
            calls.append(f"  call @{function}({', '.join(names)}) : ({', '.join(types)}) -> ()")

print(f"func.func @main({', '.join(parameters)}) {{")
print("\n".join(calls))
print("  return\n}")
