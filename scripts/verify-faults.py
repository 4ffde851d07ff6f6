#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants a fault in each kernel of a program, and checks that --verify finds it and names it.

  scripts/verify-faults.py PROGRAM [--runner=build/dev/bin/gpu-runner] [--target=cpu]
                           [--kind=element] [--every=N] [--options=...]

The program is a model, or linalg of several kernels. It must be verified without a fault; then, for
each kernel, exactly this kernel must be wrong. Inputs are random. With --every=N only each N-th
kernel gets a fault. Prints one line for each failure, and a summary; exit status 1 if a fault was
not found. The program is compiled once, if the cache is large enough for it (--options=
--cache-limit=SIZE); each run then takes as long as --verify.
"""

import argparse
import json
import subprocess
import sys


def run(options, *more):
    """The exit status, and what --json prints."""
    command = [options.runner, options.program, f"--target={options.target}", "--verify", "--json", *options.options, *more]
    if not any(option.startswith(("--arg", "--input")) for option in options.options):
        command.append("--arg=random")
    result = subprocess.run(command, capture_output=True, text=True)
    try:
        return result.returncode, json.loads(result.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(command)}: status {result.returncode}\n{result.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runner", default="build/dev/bin/gpu-runner")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--kind", default="element", choices=["element", "zero-row", "swapped-rows"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--options", default="", help="further options of gpu-runner, separated by spaces")
    options = parser.parse_args()
    options.options = options.options.split()

    status, report = run(options)
    kernels = report.get("verify", {}).get("kernels")
    if status != 0 or not kernels:
        sys.exit(f"not verified without a fault: status {status}, {len(kernels or [])} kernels")
    tried = found = hidden = 0
    for number in range(0, len(kernels), options.every):
        status, report = run(options, f"--debug-corrupt-kernel={number}:{options.kind}")
        checks = report["verify"]
        wrong = [i for i, kernel in enumerate(checks["kernels"]) if not kernel["passed"]]
        tried += 1
        if status == 3 and wrong == [number]:
            found += 1
            hidden += all(output["passed"] for output in checks["outputs"])
        else:
            print(f"kernel {number}, {kernels[number]['location']}: status {status}, wrong kernels {wrong}")
    print(
        f"{options.program} on {options.target}: {found} of {tried} faults found and named "
        f"({len(kernels)} kernels); the outputs alone do not show {hidden} of them"
    )
    return found != tried


if __name__ == "__main__":
    sys.exit(main())
