#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the kernels of a run, and finds those that compute on constants alone.

  scripts/count-kernels.py [--gpu-runner=PATH] [--target=TARGET] FILE...

FILE is a program or a model, which gpu-runner compiles to --emit=tessera (by default for cpu), or
the output of that. Prints a line for each:

  squeezenet: 57 kernels in a run, 9 of them fills; 0 when it is loaded; 0 on constants alone

A fill reads nothing. Lines with the names of the kernels on constants alone follow; exit status 1
if there is any. Allocations, and what they contain, are followed by the text alone: this knows
nothing of the pass that moves such kernels to the loader.
"""

import argparse
import pathlib
import re
import subprocess
import sys

VIEW = re.compile(r"(%[\w#]+) = memref\.(?:collapse_shape|expand_shape|subview|cast|view|"
                  r"reinterpret_cast|transpose|memory_space_cast) (%[\w#]+)")
# Ops whose second operand is memory that they write.
WRITE = re.compile(r"\b(?:memref\.(?:store|atomic_rmw|copy)|vector\.(?:store|transfer_write)|"
                   r"tessera\.(?:store|copy|async_copy|atomic_store))\b")
VALUE = re.compile(r"%[\w#]+")


def find_accesses(lines):
    """The positions of a kernel's arguments that it reads, and those that it writes."""
    names = re.findall(r"(%[\w#]+): memref<", lines[0].split("workgroup(")[0])
    every = re.findall(r"(%[\w#]+): ", lines[0].split("workgroup(")[0])
    root = {name: name for name in names}
    reads, writes = set(), set()
    for line in lines[1:]:
        view = VIEW.search(line)
        if view:
            if view[2] in root:
                root[view[1]] = root[view[2]]
            continue
        write = WRITE.search(line)
        operands = VALUE.findall(line[write.end():] if write else line)
        memory = [v for v in operands if v in root]
        if write:
            plain = VALUE.findall(re.sub(r"\[[^\]]*\]", "", line[write.end():]))
            written = plain[1] if len(plain) > 1 else ""
            if written in root:
                writes.add(root[written])
                memory.remove(written)
            if "atomic" in write[0] and written in root:
                reads.add(root[written])
        reads.update(root[v] for v in memory)
    return ({every.index(v) for v in reads}, {every.index(v) for v in writes})


def analyze(text):
    kernels, functions, current, module = {}, {}, None, ""
    for line in text.splitlines():
        if found := re.match(r" *gpu\.module @(\w+)", line):
            module = found[1]
        elif found := re.match(r" *gpu\.func @(\w+)", line):
            current = kernels[f"{module}::{found[1]}"] = [line]
        elif found := re.match(r" *func\.func (?:private |public )?@(\w+)", line):
            current = functions[found[1]] = [line]
        elif current is not None:
            current.append(line)
    accesses = {name: find_accesses(lines) for name, lines in kernels.items()}
    run, fills, loads, constant = 0, 0, 0, []
    for name, lines in functions.items():
        is_loader = name == "tessera_load"
        # For each memory, whether its contents are constant.
        root, is_constant = {}, {}
        for line in lines[1:]:
            if found := re.match(r" *(%[\w#]+) = memref\.get_global", line):
                root[found[1]] = found[1]
                is_constant[found[1]] = True
            elif found := re.match(r" *(%[\w#]+) = memref\.alloc", line):
                root[found[1]] = found[1]
                is_constant[found[1]] = True
            elif found := VIEW.search(line):
                root[found[1]] = root.get(found[2], found[2])
            if "launch_func" not in line:
                continue
            if is_loader:
                loads += 1
                continue
            run += 1
            kernel = re.search(r"@(\w+)::@(\w+)", line)
            kernel = f"{kernel[1]}::{kernel[2]}"
            args = line.split(" args(", 1)[1] if " args(" in line else ""
            args = re.findall(r"(%[\w#]+) : ", args)
            reads, writes = accesses[kernel]
            inputs = [root.get(args[i], args[i]) for i in reads]
            known = all(is_constant.get(v, False) for v in inputs)
            if not reads:
                fills += 1
            elif known:
                constant.append(f"{name}: {kernel}")
            for i in writes:
                memory = root.get(args[i], args[i])
                is_constant[memory] = is_constant.get(memory, False) and known
    return run, fills, loads, constant


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpu-runner", default="gpu-runner")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    status = 0
    for file in options.files:
        path = pathlib.Path(file)
        text = path.read_text() if path.suffix == ".mlir" else ""
        if "gpu.launch_func" not in text:
            made = subprocess.run([options.gpu_runner, file, f"--target={options.target}",
                                   "--emit=tessera"], capture_output=True, text=True)
            if made.returncode != 0:
                sys.exit(made.stderr)
            text = made.stdout
        run, fills, loads, constant = analyze(text)
        print(f"{path.stem}: {run} kernels in a run, {fills} of them fills; {loads} when it is "
              f"loaded; {len(constant)} on constants alone")
        for kernel in constant:
            print(f"  {kernel}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
