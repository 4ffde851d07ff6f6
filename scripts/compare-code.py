#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the code that two builds of the compiler generate, byte by byte.

  scripts/compare-code.py --bin=DIR --write=MANIFEST      hashes of all code of one build
  scripts/compare-code.py --bin=DIR --against=MANIFEST    compares with them
  scripts/compare-code.py --bin=DIR --against=DIR         compares two builds

DIR contains gpu-runner and gpu-fuzz. The corpus is fixed: the examples, the programs of
test/Execution, and the programs that gpu-fuzz generates from one seed. Each program is compiled for
two chips, in turn, so that all chips of all targets take part; three of the examples are compiled
for all chips. These are 300 programs and 700 compilations. --chips=1 compiles each program for one
chip, the examples too, in less than half of the time. A program that does not compile for a chip is
in the manifest with its exit status. --part=N/M takes every Mth program only, and --match=REGEX
the compilations whose line in the manifest matches. Exit status 1: the code differs.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The stage that each target's code is compared at, and its chips.
TARGETS = {
    "cuda": ("ptx", ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100",
                     "sm_100a", "sm_120", "sm_120a"]),
    "hip": ("hsaco", ["gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101",
                      "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"]),
    "vulkan": ("spirv", ["lavapipe", "lavapipe-simt", "nvidia-hopper"]),
    "opencl": ("spirv", ["bmg", "dg2", "pvc", "pocl", "simt", "rusticl"]),
    "level-zero": ("spirv", ["pvc"]),
    "cpu": ("object", ["generic", "x86-64-avx2", "x86-64-avx512", "x86-64-avx512-vnni",
                       "emulate=sm_70", "emulate=sm_80", "emulate=sm_90a", "emulate=sm_100a",
                       "emulate=gfx906", "emulate=gfx942", "emulate=gfx1100", "emulate=gfx1201",
                       "emulate=pvc", "emulate=lavapipe-simt"]),
}
SEED, FUZZ_CASES = 22, 240
FOR_ALL_CHIPS = ["examples/01-matmul.mlir", "examples/03-vthreads.mlir",
                 "examples/06-upstream-subgroup-mma.mlir"]


def collect_programs(bin_dir, folder, part):
    """The corpus, copied to `folder`: (position, name, path in the folder). Code may contain its
    source's path, which has to be the same for both builds."""
    index, count = part
    programs = []
    for pattern in ("examples/*.mlir", "test/Execution/**/*.mlir"):
        for path in sorted(ROOT.glob(pattern)):
            programs.append((str(path.relative_to(ROOT)), path))
    programs += [(f"gpu-fuzz/{SEED}-{case}", None) for case in range(FUZZ_CASES)]
    taken = []
    for position, (name, path) in enumerate(programs):
        if position % count != index:
            continue
        if path is None:
            case = name.rsplit("-", 1)[1]
            text = subprocess.run([f"{bin_dir}/gpu-fuzz", f"--seed={SEED}", f"--case={case}",
                                   "--print"], capture_output=True, check=True).stdout
        else:
            text = path.read_bytes()
        copy = name.replace("/", "-").removesuffix(".mlir") + ".mlir"
        (folder / copy).write_bytes(text)
        taken.append((position, name, copy))
    return taken


ALL_CHIPS = [(target, stage, chip) for target, (stage, chips) in TARGETS.items() for chip in chips]


def choose_chips(position, name, chips):
    """(target, stage, chip) for a program, `chips` of them; 0: all for some, two for the others."""
    if not chips and name in FOR_ALL_CHIPS:
        return ALL_CHIPS
    # Strides without a common divisor with the list's length: neighbours get chips of two targets,
    # and all chips take part.
    return [ALL_CHIPS[(position * 11 + i * 23) % len(ALL_CHIPS)] for i in range(chips or 2)]


def compile_batch(bin_dir, folder, jobs, number):
    """Runs one process of gpu-runner; returns the manifest's lines of its jobs."""
    lines = folder / f"batch-{number}"
    with open(lines, "w") as file:
        for i, (target, stage, chip, _, path) in enumerate(jobs):
            file.write(shlex.join([path, f"--target={target}:{chip}", f"--emit={stage}", "-o",
                                   str(folder / f"out-{number}-{i}")]) + "\n")
    run = subprocess.run([f"{bin_dir}/gpu-runner", f"--batch={lines}"], cwd=folder,
                         capture_output=True, text=True, errors="replace")
    status = {}
    for line in run.stdout.splitlines():
        if line.startswith("=== line "):
            at, _, code = line[len("=== line "):].partition(": exit status ")
            status[int(at) - 1] = code
    results = {}
    for i, (target, stage, chip, name, path) in enumerate(jobs):
        key = f"{name} {target}:{chip} {stage}"
        output = folder / f"out-{number}-{i}"
        if i not in status:
            results[key] = "crash"
        elif status[i] != "0":
            results[key] = "exit-" + status[i]
        else:
            results[key] = hashlib.sha256(output.read_bytes()).hexdigest()
            output.unlink()
    return results


def make_manifest(bin_dir, part, match, chips):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        programs = collect_programs(bin_dir, folder, part)
        results = {f"{name} source": hashlib.sha256((folder / path).read_bytes()).hexdigest()
                   for _, name, path in programs}
        jobs = [(target, stage, chip, name, path) for position, name, path in programs
                for target, stage, chip in choose_chips(position, name, chips)
                if match.search(f"{name} {target}:{chip} {stage}")]
        size = 10
        batches = [jobs[at:at + size] for at in range(0, len(jobs), size)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for part_results in pool.map(
                    lambda batch: compile_batch(bin_dir, folder, batch[1], batch[0]),
                    enumerate(batches)):
                results.update(part_results)
        return results


def read_manifest(path):
    return dict(line.rsplit(" ", 1) for line in pathlib.Path(path).read_text().splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--write")
    parser.add_argument("--against")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--match", default="", type=re.compile)
    parser.add_argument("--chips", default=0, type=int)
    options = parser.parse_args()
    part = tuple(int(number) for number in options.part.split("/"))
    results = make_manifest(options.bin.resolve(), part, options.match, options.chips)
    programs = {key.rsplit(" ", 1)[0] for key in results if key.endswith(" source")}
    compiled = sum(len(value) == 64 for key, value in results.items()
                   if not key.endswith(" source"))
    print(f"{len(programs)} programs, {len(results) - len(programs)} compilations, "
          f"{compiled} of them with code")
    if options.write:
        pathlib.Path(options.write).write_text(
            "".join(f"{key} {value}\n" for key, value in sorted(results.items())))
    if not options.against:
        return 0
    other = (make_manifest(pathlib.Path(options.against).resolve(), part, options.match,
                           options.chips)
             if os.path.isdir(options.against) else read_manifest(options.against))
    # A manifest may have more programs than this part.
    same_sources = {key.rsplit(" ", 1)[0] for key in results
                    if key.endswith(" source") and other.get(key) == results[key]}
    changed = len(programs) - len(same_sources)
    if changed:
        print(f"{changed} programs are not compared: their source changed or is new")
    differ, compared = 0, 0
    for key, value in sorted(results.items()):
        if key.endswith(" source") or key.split(" ")[0] not in same_sources:
            continue
        compared += 1
        if other.get(key) != value:
            differ += 1
            print(f"differs: {key}: {other.get(key, 'absent')[:16]} became {value[:16]}")
    print(f"{compared} compared, {differ} differ")
    return 1 if differ or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
