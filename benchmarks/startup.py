#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a .mlir file to its first launch: compiled, and from the cache of compiled programs.

    benchmarks/startup.py --target=cpu  --runner=build/release/bin/gpu-runner
    benchmarks/startup.py --target=cuda --runner=gpu-runner --output=startup.md examples/01-*.mlir

Each program is run in three ways, `--rounds` times in turn: without the cache (off), with one that
is empty (miss), and with what that run left (hit). One process runs all of them, with its device
open: opening the device, and loading gpu-runner, are not in the times. CUDA's own cache of
compiled PTX has a folder for the run, which is emptied before each `off` and `miss`. Numbers are
medians in milliseconds; the outputs of the three have to be the same. With --bench, each also times
its kernels: machine code in the cache must be as fast as the code that the driver makes while
it loads PTX.
"""

import argparse
import datetime
import glob
import os
import pathlib
import platform
import re
import shutil
import statistics
import sys
import tempfile

from client import Client

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
WAYS = ["off", "miss", "hit"]
STEPS = ["read", "device", "arguments", "compile", "load"]


def options_of(path):
    """The entry and arguments of the first command in the head of the file."""
    for line in pathlib.Path(path).read_text().splitlines():
        if found := re.search(r"RUN: gpu-runner (.*?)(\||$)", line):
            return [word for word in found[1].split() if word.startswith(("--entry", "--arg"))]
    return []


def empty(folder):
    for entry in os.scandir(folder):
        shutil.rmtree(entry.path) if entry.is_dir() else os.remove(entry.path)


def measure(client, path, args):
    """For each way, the reports of all rounds."""
    reports = {way: [] for way in WAYS}
    options = options_of(path) + (["--bench"] if args.bench else [])
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for way in WAYS:
                if way != "hit":
                    empty(os.environ["CUDA_CACHE_PATH"])
                report = client.run(path, [*options, "--cache=" + ("off" if way == "off" else folder)])
                if report["cache"] != way:
                    sys.exit(f"error: {path}: the cache is '{report['cache']}', not '{way}'")
                reports[way].append(report)
    if len({str(report["outputs"]) for way in WAYS for report in reports[way]}) != 1:
        sys.exit(f"error: {path}: the outputs differ")
    return reports


def row(path, way, reports, args):
    def median(get):
        return statistics.median(get(report) for report in reports)

    cells = [f"`{os.path.basename(path)}`", way, f"{median(lambda r: r['first_launch_ms']):.1f}"]
    cells += [f"{median(lambda r: r['start'][step]):.1f}" for step in STEPS]
    if args.bench:
        cells.append(f"{median(lambda r: r['bench']['median_ms']):.4f}")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--runner", default="gpu-runner")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bench", action="store_true", help="time the kernels as well")
    parser.add_argument("--output", help="where the Markdown goes; standard output if not given")
    parser.add_argument("files", nargs="*", help="programs; all examples if none is given")
    args = parser.parse_args()
    files = args.files or sorted(glob.glob(str(EXAMPLES / "*.mlir")))

    driver_cache = tempfile.TemporaryDirectory()
    os.environ["CUDA_CACHE_PATH"] = driver_cache.name
    client = Client(args.runner, args.target)
    # Costs of the first program only.
    device = client.run(files[0], options_of(files[0]))["device"]
    columns = ["program", "cache", "first launch", *STEPS, *(["kernels"] if args.bench else [])]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for path in files:
        reports = measure(client, path, args)
        lines += [row(path, way, reports[way], args) for way in WAYS]
    client.close()
    head = [f"{device['name']} ({device['chip']}, {device['driver'] or platform.release()}), "
            f"{datetime.date.today()}, {args.rounds} rounds, milliseconds:",
            "", "    benchmarks/startup.py " + " ".join(sys.argv[1:]), ""]
    text = "\n".join(head + lines) + "\n"
    if args.output:
        pathlib.Path(args.output).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
