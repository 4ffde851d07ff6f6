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

from machine_code import count_classes, find_loop, instructions


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
        counts = count_classes(body)
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
