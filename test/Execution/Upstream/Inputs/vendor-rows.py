#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each form of nvgpu.mma.sync, amdgpu.mfma and amdgpu.wmma on a chip that does not have it.

The registers of each lane of two subgroups are a row of an argument, so that a wrong distribution
of elements shows as a difference from the reference. The rows are not those of a matrix, so that no
form becomes fragments. Prints the forms that are not verified, and
their number.

  vendor-rows.py GPU-RUNNER FOLDER
"""
import concurrent.futures
import os
import subprocess
import sys


def vector(count, element):
    return f"vector<{count}x{element}>"


def program(lanes, counts, elements, types, op):
    """A kernel that applies `op` to %x, %y and %z of `types`, of so many elements."""
    memory = [f"memref<{2 * lanes}x{n}x{t}>" for n, t in zip(counts, elements)]
    lines = [
        f"func.func @main(%a: {memory[0]}, %b: {memory[1]}, %c: {memory[2]}) {{",
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        f"%n = arith.constant {2 * lanes} : index",
        "gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)",
        "threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {",
        "%row = affine.apply affine_map<(d0) -> (ROW)>(%tx)",
    ]
    for name, value, kind, count, element, type_ in zip(
        "abc", "xyz", memory, counts, elements, types
    ):
        row = "%tx" if name == "c" else "%row"
        if type_ == element:
            lines.append(f"%{value} = memref.load %{name}[{row}, %c0] : {kind}")
            continue
        flat = vector(count, element)
        lines.append(f"%l{name} = vector.load %{name}[{row}, %c0] : {kind}, {flat}")
        lines.append(f"%{value} = vector.shape_cast %l{name} : {flat} to {type_}")
    flat = vector(counts[2], elements[2])
    lines += [
        f"%d = {op}",
        f"%e = vector.shape_cast %d : {types[2]} to {flat}",
        f"vector.store %e, %c[%tx, %c0] : {memory[2]}, {flat}",
        "gpu.terminator",
        "}",
        "return",
        "}",
    ]
    return "\n".join(lines) + "\n"


def mma(m, n, k, element, acc, attributes=""):
    word = max(1, 4 // {"i8": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}[element])
    counts = [m * k // 32, k * n // 32, m * n // 32]
    types = [f"vector<{c // word}x{word}x{element}>" for c in counts[:2]]
    types.append(f"vector<{counts[2] // 2}x2x{acc}>")
    op = f"nvgpu.mma.sync(%x, %y, %z) {{mmaShape = [{m}, {n}, {k}]{attributes}}} : "
    op += f"({types[0]}, {types[1]}, {types[2]}) -> {types[2]}"
    row = "d0 mod 2 * 32 + d0 floordiv 2"
    return program(32, counts, [element, element, acc], types, op).replace("ROW", row)


def mfma(m, k, element, acc):
    counts = [m * k // 64, m * k // 64, m * m // 64]
    elements = [element, element, acc]
    types = [t if c == 1 else vector(c, t) for c, t in zip(counts, elements)]
    op = f"amdgpu.mfma {m}x{m}x{k} %x * %y + %z blgp = none : " + ", ".join(types)
    return program(64, counts, elements, types, op).replace("ROW", "d0")


def wmma(count, element, acc, attributes=""):
    counts, elements = [count, count, 8], [element, element, acc]
    types = [vector(c, t) for c, t in zip(counts, elements)]
    op = f"amdgpu.wmma 16x16x16 %x * %y + %z {attributes}: " + ", ".join(types)
    # With 16 elements, both halves of a subgroup hold the same.
    row = "d0" if count == 8 else "d0 mod 16 + (d0 floordiv 32) * 16"
    return program(32, counts, elements, types, op).replace("ROW", row)


def forms():
    for k in (8, 16):
        for element, acc in (("f16", "f16"), ("f16", "f32"), ("bf16", "f32")):
            yield f"mma-{k}-{element}-{acc}", mma(16, 8, k, element, acc), "gfx942"
    for k in (4, 8):
        yield f"mma-{k}-tf32", mma(16, 8, k, "f32", "f32", ", tf32Enabled"), "gfx1100"
    yield "mma-f64", mma(8, 8, 4, "f64", "f64"), "gfx942"
    for k in (16, 32):
        yield f"mma-{k}-i8", mma(16, 8, k, "i8", "i32"), "pvc"
    # The extents of K for 32 rows; for 16 rows they are twice as large.
    for element, acc, extents in (
        ("f16", "f32", (8, 16)),
        ("bf16", "f32", (4, 8, 16)),
        ("f32", "f32", (2,)),
        ("i8", "i32", (8, 16, 32)),
        ("f8E4M3FNUZ", "f32", (16,)),
        ("f8E5M2FNUZ", "f32", (16,)),
        ("f8E4M3FN", "f32", (16, 64)),
        ("f8E5M2", "f32", (16, 64)),
    ):
        for k in extents:
            yield f"mfma-32-{k}-{element}", mfma(32, k, element, acc), "sm_80"
            yield f"mfma-16-{2 * k}-{element}", mfma(16, 2 * k, element, acc), "sm_80"
    yield "mfma-f64", mfma(16, 4, "f64", "f64"), "sm_80"
    for count in (8, 16):
        for element, acc in (("f16", "f32"), ("bf16", "f32"), ("i8", "i32")):
            yield f"wmma-{count}-{element}", wmma(count, element, acc), "sm_80"
    yield "wmma-f16", wmma(8, "f16", "f16"), "gfx942"
    for element in ("f8E4M3FN", "f8E5M2"):
        yield f"wmma-{element}", wmma(8, element, "f32"), "gfx942"
    yield "wmma-unsigned", wmma(8, "i8", "i32", "{unsignedA, unsignedB} "), "gfx942"
    yield "wmma-8-i4", wmma(8, "i4", "i32"), "sm_80"
    yield "wmma-16-i4", wmma(16, "i4", "i32", "{unsignedB} "), "gfx942"


def run(form):
    name, text, chip = form
    path = os.path.join(sys.argv[2], name + ".mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    result = subprocess.run(
        [sys.argv[1], path, "--target=cpu:emulate=" + chip, "--verify"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    good = "verified" in result.stdout.split("\n") and "remark: raised to portable code" in result.stdout
    return name, good, result.stdout


def main():
    os.makedirs(sys.argv[2], exist_ok=True)
    count = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, good, text in pool.map(run, forms()):
            count += 1
            failed += not good
            if not good:
                print(f"{name}: not verified\n{text}")
    print(f"{count} forms, {failed} failed")


main()
