#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The share of matrix instructions in each kernel of a program or a network, without a device.

    benchmarks/kernel-mix.py --target=hip:gfx942 resnet50.onnx
    benchmarks/kernel-mix.py --target=opencl:pvc --output=mix.md resnet50.onnx

Compiles FILE for a chip of AMD or Intel (Intel's code is from ocloc: scripts/intel-compiler.sh --fetch), and
prints a table of the kernels that contain matmuls: the instructions of the main loop, waits included, those of the
matrix unit, what is spilled, and private memory. A kernel without a loop of matrix instructions is counted as a
whole. Exit status 1 if a kernel spills, or has a matmul and no matrix instruction.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import machine_code

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compile_kernels(options, file):
    """The kernels by name, and the matmuls of each: the lines of --explain."""
    target = options.target.partition(":")[0]
    chip = options.target.rpartition(":")[2]
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "code")
        stage = "amdgcn" if target == "hip" else "spirv"
        run = subprocess.run([options.gpu_runner, file, f"--target={options.target}", f"--emit={stage}", "-o", output,
                              "--explain"], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{file}: {run.stdout}{run.stderr}")
        if target == "hip":
            with open(output) as code:
                kernels = machine_code.read_amd_kernels(code.read())
        else:
            code = subprocess.run([ROOT / "scripts/intel-compiler.sh", output, chip], capture_output=True, text=True)
            if code.returncode:
                sys.exit(f"{file}: {code.stderr}")
            kernels = machine_code.read_intel_kernels(code.stdout)
    matmuls = collections.defaultdict(list)
    for kernel in re.findall(r"^(?:matmul|attention) .* in kernel (\S+) ", run.stdout + run.stderr, re.MULTILINE):
        matmuls[kernel].append(kernel)
    if not kernels:
        sys.exit(f"{file}: the code has no kernels")
    unknown = set(matmuls) - set(kernels)
    if unknown:
        sys.exit(f"{file}: no code of {', '.join(sorted(unknown))}")
    return kernels, matmuls


def describe(options, file):
    """The lines of the table, and whether a kernel is as it must not be."""
    kernels, matmuls = compile_kernels(options, file)
    rows, total, matrix, shares, bad = [], 0, 0, [], False
    for name, kernel in kernels.items():
        count, of_unit = sum(kernel.counts.values()), kernel.counts.get("matrix", 0)
        lacks = name in matmuls and not of_unit
        bad |= lacks or kernel.spilled > 0
        if name not in matmuls and not kernel.spilled:
            continue
        if name in matmuls:
            total, matrix = total + count, matrix + of_unit
            shares.append(of_unit / count)
        where = "" if kernel.in_loop else ", no loop"
        rows.append(f"| {name} | {len(matmuls.get(name, []))} | {count}{where} | {of_unit} | {100 * of_unit / count:.1f} % "
                    f"| {kernel.spilled} | {kernel.private} |")
    shares.sort()
    spilling = sum(kernel.spilled > 0 for kernel in kernels.values())
    lines = [f"{os.path.basename(file)}, {options.target}: {len(kernels)} kernels, {len(shares)} of them with matmuls, "
             f"{sum(kernels[name].counts.get('matrix', 0) > 0 for name in matmuls)} of these with matrix instructions; "
             f"{spilling} spill"]
    if shares:
        lines.append(f"matrix instructions: {100 * matrix / total:.1f} % of all loops together, {100 * shares[0]:.1f} % at "
                     f"least, median {100 * shares[len(shares) // 2]:.1f} %, {100 * shares[-1]:.1f} % at most")
    unit = "registers spilled" if options.target.startswith("hip") else "bytes spilled"
    lines += ["", f"| kernel | matmuls | instructions of the loop | matrix | share | {unit} | private bytes |",
              "|---|---|---|---|---|---|---|", *rows, ""]
    return lines, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", required=True, help="hip:CHIP or opencl:CHIP")
    parser.add_argument("--gpu-runner", default=str(ROOT / "build/dev/bin/gpu-runner"))
    parser.add_argument("--output", help="a file for the table, in Markdown; default: standard output")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    if not re.fullmatch(r"(hip|opencl):\w+", options.target):
        parser.error("--target must be hip:CHIP or opencl:CHIP")
    lines, bad = [], False
    for file in options.files:
        more, is_bad = describe(options, file)
        lines += more
        bad |= is_bad
    text = "\n".join(lines)
    if options.output:
        pathlib.Path(options.output).write_text(text)
    else:
        print(text)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
