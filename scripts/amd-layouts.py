#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes unittests/Target/AmdLayouts.txt: where AMD's matrix instructions have their elements.

    scripts/amd-layouts.py MATRIX_CALCULATOR > unittests/Target/AmdLayouts.txt

MATRIX_CALCULATOR is matrix_calculator.py of AMD's "AMD Matrix Instruction Calculator" (the project
ROCm/amd_matrix_instruction_calculator; it needs the package `tabulate`). It is asked for each
instruction of each architecture, one operand after the other; nothing here knows a layout.

The calculator prints registers and bits. Elements of an operand are numbered in the order of these, so
that it does not matter whether they fill registers (two of f16), share none (RDNA3's accumulators of
f16) or take two (f64).
"""

import csv
import re
import subprocess
import sys

# The calculator's names of chips: gfx908, gfx90a, gfx942; gfx11; gfx12.
CDNA = ("cdna1", "cdna2", "cdna3")
F8 = {"fp8": "f8E4M3", "bf8": "f8E5M2"}


def rows():
    """Yields a row's name in Tessera's table, and its (architecture, mnemonic)."""

    def mfma(m, k, acc, a, chips, suffix=""):
        # "32x32x8f16" up to CDNA2, "32x32x8_f16" since.
        return [
            (c, f"v_mfma_{acc}_{m}x{m}x{k}{'_' if c == 'cdna3' else ''}{a}"
             f"{suffix if c == 'cdna2' else ''}") for c in chips
        ]

    for m, k in ((32, 8), (16, 16)):
        yield f"mfma.m{m}n{m}k{k}.f32.f16", mfma(m, k, "f32", "f16", CDNA)
        yield (f"mfma.m{m}n{m}k{k}.f32.bf16", mfma(m, k, "f32", "bf16", CDNA[1:], "_1k"))
        yield f"mfma.m{m}n{m}k{k}.i32.i8", mfma(m, k, "i32", "i8", CDNA[:2])
    for m, k in ((32, 4), (16, 8)):
        yield f"mfma.m{m}n{m}k{k}.f32.bf16", mfma(m, k, "f32", "bf16", CDNA[:2])
        yield f"mfma.m{m}n{m}k{k}.f32.xf32", mfma(m, k, "f32", "xf32", CDNA[2:])
    for m, k in ((32, 2), (16, 4)):
        yield f"mfma.m{m}n{m}k{k}.f32.f32", mfma(m, k, "f32", "f32", CDNA)
    yield "mfma.m16n16k4.f64.f64", mfma(16, 4, "f64", "f64", CDNA[1:])
    for m, k in ((32, 16), (16, 32)):
        yield f"mfma.m{m}n{m}k{k}.i32.i8", mfma(m, k, "i32", "i8", CDNA[2:])
    for a in F8:
        for b in F8:
            types = f"{F8[a]}FNUZ" + (f".{F8[b]}FNUZ" if a != b else "")
            for m, k in ((32, 16), (16, 32)):
                yield f"mfma.m{m}n{m}k{k}.f32.{types}", mfma(m, k, "f32", f"{a}_{b}", CDNA[2:])
    for family, chip in (("wmma", "rdna3"), ("wmma12", "rdna4")):
        for acc, a, name in (("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"),
                             ("i32", "i8", "iu8"), ("i32", "i4", "iu4")):
            yield f"{family}.m16n16k16.{acc}.{a}", [(chip, f"v_wmma_{acc}_16x16x16_{name}")]
    yield "wmma12.m16n16k32.i32.i4", [("rdna4", "v_wmma_i32_16x16x32_iu4")]
    ocp = {"fp8": "f8E4M3FN", "bf8": "f8E5M2"}
    for a in ocp:
        for b in ocp:
            types = ocp[a] + (f".{ocp[b]}" if a != b else "")
            yield f"wmma12.m16n16k16.f32.{types}", [("rdna4", f"v_wmma_f32_16x16x16_{a}_{b}")]


def ask(calculator, chip, instruction, operand):
    """The operand's elements, by rows: for each the (lane, element) that hold it."""
    text = subprocess.run(
        [sys.executable, calculator, "-a", chip, "-i", instruction, f"-{operand}", "-R", "--csv"],
        check=True, capture_output=True, text=True).stdout
    table = [line for line in csv.reader(text.splitlines()) if line and line[0].isdigit()]
    # "v0{32}.[15:0] v0{48}.[15:0]", "v[1:0]{5}": (register, lowest bit, lane).
    position = re.compile(r"[va](?:(\d+)|\[\d+:(\d+)\])\{(\d+)\}(?:\.\[\d+:(\d+)\])?")
    cells = [[[(int(one or low), int(bit or 0), int(lane))
               for one, low, lane, bit in position.findall(cell)] for cell in line[1:]]
             for line in table]
    assert cells and all(cell for line in cells for cell in line), text
    slots = sorted({(reg, bit) for line in cells for cell in line for reg, bit, _ in cell})
    return [[[(lane, slots.index((reg, bit))) for reg, bit, lane in cell] for cell in line]
            for line in cells]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    blocks = {}
    for name, instructions in rows():
        layouts = {repr([ask(sys.argv[1], *instruction, o) for o in "ABD"])
                   for instruction in instructions}
        if len(layouts) != 1:
            sys.exit(f"{name}: not laid out alike: {instructions}")
        blocks.setdefault(layouts.pop(), []).append((name, instructions))
    print("""# Where AMD's matrix instructions have their elements, as the AMD Matrix Instruction Calculator prints
# it; written by scripts/amd-layouts.py. After the instructions that share a layout (the table's name:
# the calculator's architectures and names), the matrices a, b and d by rows: lane.element of the
# fragment, several where several lanes hold the same.""")
    for layout, names in blocks.items():
        print()
        for name, instructions in names:
            print(f"{name}: " + ", ".join(" ".join(i) for i in instructions))
        for operand, matrix in zip("abd", eval(layout)):  # Our own repr.
            print(operand, f"{len(matrix)}x{len(matrix[0])}")
            for line in matrix:
                print(" ".join("|".join(f"{lane}.{e}" for lane, e in cell) for cell in line))


main()
