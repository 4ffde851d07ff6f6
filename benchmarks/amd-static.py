#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The instructions of an AMD kernel's main loop, without a device.

    benchmarks/amd-static.py --chip=gfx942 FILE.s...

Reads AMDGPU assembly (gpu-runner --emit=amdgcn, or Triton's), finds the loop with the most matrix
instructions, counts its instructions by the unit that executes them, and asks llvm-mca how many cycles
one round takes. llvm-mca knows issue and latency of one wave by itself: neither the memory's latency
nor other waves.
"""

import argparse
import re
import shutil
import subprocess

CLASSES = [
    ("matrix", re.compile(r"v_(s?mfma|smfmac|wmma)")),
    ("LDS read", re.compile(r"ds_(read|load)")),
    ("LDS write", re.compile(r"ds_(write|store)")),
    ("lane exchange", re.compile(r"ds_(b?permute|bpermute|swizzle)")),
    ("global load", re.compile(r"(global|buffer|flat)_load")),
    ("global store", re.compile(r"(global|buffer|flat)_(store|atomic)")),
    ("scratch", re.compile(r"scratch_")),
    ("wait", re.compile(r"s_wait|s_barrier|s_nop|s_delay_alu|s_setprio|s_sleep")),
    ("scalar", re.compile(r"s_")),
    ("vector", re.compile(r"v_")),
]


def instructions(lines):
    for line in lines:
        text = line.split(";")[0].split("//")[0].strip()
        if text and not text.startswith(".") and not text.endswith(":"):
            yield text


def find_loop(lines):
    """The lines of the loop (from a label to a branch back to it) with the most matrix instructions;
    of nested ones the innermost."""
    labels, best = {}, (0, 0, [])
    for i, line in enumerate(lines):
        label = re.match(r"([.\w$]+):", line)
        if label:
            labels[label.group(1)] = i
        branch = re.match(r"\s*s_c?branch\w*\s+([.\w$]+)", line)
        if branch and branch.group(1) in labels:
            body = lines[labels[branch.group(1)] : i + 1]
            matrix = sum(bool(CLASSES[0][1].match(t)) for t in instructions(body))
            if (matrix, -len(body)) > (best[0], -best[1]):
                best = (matrix, len(body), body)
    return best[2]


def simulate(mca, chip, body):
    """Cycles of one round by llvm-mca, or None. Branches and what it cannot read are left out."""
    text = "".join(t + "\n" for t in instructions(body) if not re.match(r"s_c?branch", t))
    rounds = 100
    run = subprocess.run(
        [mca, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}", f"-iterations={rounds}"],
        input=text, capture_output=True, text=True,
    )
    found = re.search(r"Total Cycles:\s+(\d+)", run.stdout)
    return int(found.group(1)) / rounds if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chip", required=True)
    parser.add_argument("--llvm-mca", default=shutil.which("llvm-mca-22") or "llvm-mca")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    for name in options.files:
        with open(name) as file:
            lines = file.read().splitlines()
        body = find_loop(lines)
        counts = dict.fromkeys((c for c, _ in CLASSES), 0)
        for text in instructions(body):
            counts[next((c for c, pattern in CLASSES if pattern.match(text)), "vector")] += 1
        total = sum(counts.values())
        print(f"{name}: {total} instructions in the main loop")
        for kind, count in counts.items():
            if count:
                print(f"  {kind:14}{count:5}  {100 * count / total:5.1f} %")
        if not counts["matrix"]:
            continue
        cycles = simulate(options.llvm_mca, options.chip, body)
        if cycles:
            print(f"  llvm-mca      {cycles:7.1f} cycles a round, {cycles / counts['matrix']:.1f} for each "
                  "matrix instruction")
        for key in (".vgpr_count", ".agpr_count", ".sgpr_count", ".vgpr_spill_count", ".sgpr_spill_count",
                    ".private_segment_fixed_size"):
            values = [line.split()[-1] for line in lines if re.match(rf"\s*(- )?\{key}:", line)]
            if values:
                print(f"  {key[1:]:28}{', '.join(values)}")


if __name__ == "__main__":
    main()
