#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bandwidth of depthwise convolutions of networks, beside that of a copy of as many bytes.

    benchmarks/bandwidth.py --target=cuda --output=docs/benchmarks/h200-depthwise
    benchmarks/bandwidth.py --list

Requires what cliffs.py requires, and measures as it does, in one process: the convolution with its bias and
activation, PyTorch's fastest copy of half its bytes from one tensor to another, and the same convolution by cuDNN
(with the activation as PyTorch computes it). The bytes are those of the image, the filter and the output. The
copies of the arguments exceed twice the L2. Writes OUTPUT.md and OUTPUT.json. Exit status 1 if a program
fails, or its result is wrong.
"""

import argparse
import datetime
import math
import os
import platform
import shlex
import sys
import textwrap
import time

import bench
import cliffs
import report
from cases import conv
from processes import Pool

#: Image, channels, window and stride at batch 32: those of mobilenet_v2 and of efficientnet_b0.
MOBILENET = [(112, 32, 3, 1), (112, 96, 3, 2), (56, 144, 3, 1), (56, 144, 3, 2), (28, 192, 3, 1), (28, 192, 3, 2),
             (14, 384, 3, 1), (14, 576, 3, 1), (14, 576, 3, 2), (7, 960, 3, 1)]
EFFICIENTNET = [(112, 32, 3, 1), (112, 96, 3, 2), (56, 144, 3, 1), (56, 144, 5, 2), (28, 240, 5, 1), (28, 240, 3, 2),
                (14, 480, 3, 1), (14, 480, 5, 1), (14, 672, 5, 1), (14, 672, 5, 2), (7, 1152, 5, 1), (7, 1152, 3, 1)]
METHOD = """Settled: the mean of calls that follow each other in a CUDA graph, which has a call for each copy of the
arguments (twice the L2 at least, 64 at most); the median of {windows} windows of {window} ms. Cold: the median of {runs}
calls, each after a fill of 256 MiB. us; MB: bytes of image, filter and output; copy: the faster of
`torch.Tensor.copy_` and `torch.neg` of half as many bytes of f32 from one tensor to another, which so move the same
number; share: the copy's time by ours, which is the part of a copy's bandwidth that the convolution has; cuDNN:
PyTorch's convolution in channels_last with its bias and activation. Schedules are the compiler's own choice and the
records that ship. Every result is compared with one in f32; error is its largest difference as a share of the
permitted one."""


def make_cases():
    for layers, activation in ((MOBILENET, "relu6"), (EFFICIENTNET, "swish")):
        for size, channels, window, stride in layers:
            yield conv("f16", 32, size, channels, channels, window, stride, groups=channels, activation=activation)


class Measurer(cliffs.Measurer):
    """Measures beside a copy."""

    def choose_way(self, case, copies, row):
        cudnn = super().choose_way(case, copies, row)
        row["cudnn"] = row["ways"][row.pop("way")] if cudnn else None
        count = math.ceil(case.bytes / 2 / 16) * 4
        tensors = [tuple(self.torch.zeros(count, dtype=self.torch.float32, device=self.clock.device) for _ in range(2))
                   for _ in copies]
        sides = [cliffs.Side(self.clock, call, tensors) for call in (
            lambda target, source: target.copy_(source), lambda target, source: self.torch.neg(source, out=target))]
        for side in sides:
            side.record(len(tensors))
        return min(sides, key=lambda side: side.time_replays(side.replays) / side.replays)


def write_markdown(results):
    rows = results["rows"]
    method = METHOD.format(windows=results["windows"], window=f"{cliffs.WINDOW_MS:g}", runs=results["runs"])
    lines = [f"# Depthwise convolutions beside copies on {results['device']}", "",
             f"{results['date']}; {results['system']}; {results['driver']}", "", f"Command: `{results['command']}`", "",
             f"- library: {results['library']}"]
    lines += [f"- clocks {when}: {clocks}" for when, clocks in results["clocks"].items()]
    lines += ["", *textwrap.wrap(method, 100), "",
              "| convolution | MB | settled | TB/s | copy | TB/s | share | cold | copy | share | cuDNN | error |",
              "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        if "ours" not in row:
            lines.append(f"| {row['name']} | failed: {row['failed']} |" + " |" * 10)
            continue
        ours, copy = row["ours"], row["library"]
        rate = lambda ms: f"{row['bytes'] / ms / 1e9:.2f}"
        error = "wrong" if row["wrong"] else report.number(row["error_share"])
        lines.append(f"| {row['name']} | {row['bytes'] / 1e6:.1f} | {ours['settled'] * 1e3:.2f} | {rate(ours['settled'])} | "
                     f"{copy['settled'] * 1e3:.2f} | {rate(copy['settled'])} | {row['ratio']:.2f} | {ours['cold'] * 1e3:.2f} | "
                     f"{copy['cold'] * 1e3:.2f} | {row['cold_ratio']:.2f} | {report.number(row['cudnn'] and row['cudnn'] * 1e3, 1)} | {error} |")
    for window in ("3x3", "5x5"):
        some = [row for row in rows if "ratio" in row and f" {window}" in row["name"]]
        if some:
            lines += ["", f"{window}: {len(some)} convolutions, geometric mean of the shares "
                      f"{report.geometric_mean([row['ratio'] for row in some]):.3f}, least {min(row['ratio'] for row in some):.2f}; "
                      f"cold {report.geometric_mean([row['cold_ratio'] for row in some]):.3f}, least {min(row['cold_ratio'] for row in some):.2f}."]
    return "\n".join(lines) + "\n"


def run(options, cases, cache):
    start = time.monotonic()
    settings = cliffs.Options(options.target, cache, loads=True, flags=["ptxas"] if options.ptxas else [],
                              windows=options.windows, runs=options.runs, graphs=True)
    rows, bundles = {}, {}
    for case, made in Pool(cliffs.Compiler, settings, options.jobs, 60).run(cases, math.inf):
        if "failed" in made:
            rows[case.name] = cliffs.make_row(case, {"failed": f"compiling: {made['failed']}"})
        else:
            bundles[case.name] = made["bundle"]
    on_cuda = settings.get_device() == "cuda"
    clocks = {"before": bench.clocks()} if on_cuda else {}
    pool = Pool(Measurer, settings, 1, 30)
    for (case, _), more in pool.run([(case, bundles[case.name]) for case in cases if case.name in bundles], math.inf):
        rows[case.name] = cliffs.make_row(case, more)
    if on_cuda:
        clocks["after"] = bench.clocks()
    return {"date": datetime.date.today().isoformat(), "system": f"{platform.system()} {platform.machine()}",
            "driver": f"driver {bench.query_gpu('driver_version')}" if on_cuda else "", "target": options.target,
            "device": pool.about["device"], "library": pool.about["library"], "windows": options.windows, "runs": options.runs,
            "command": shlex.join(["benchmarks/bandwidth.py", *sys.argv[1:]]), "clocks": clocks,
            "seconds": round(time.monotonic() - start, 1), "rows": [rows[case.name] for case in cases]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cuda", help="of tessera.compile: cuda or hip")
    parser.add_argument("--list", action="store_true", help="print the convolutions, and end")
    parser.add_argument("--print", action="store_true", help="print their programs, and end")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile")
    parser.add_argument("--ptxas", action="store_true", help="assemble programs ahead of time, not in the driver")
    parser.add_argument("--cache", metavar="DIR", help="where programs are kept; otherwise nowhere")
    parser.add_argument("--windows", type=int, default=5, help="of settled runs")
    parser.add_argument("--runs", type=int, default=15, help="with cold caches")
    parser.add_argument("--output", help="without a suffix; otherwise the table is printed")
    options = parser.parse_args()
    cases = list(make_cases())
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if options.print:
        cliffs.print_programs(cases)
        return 0
    results = cliffs.run_in_cache(run, options, cases)
    if options.output:
        cliffs.write(results, options.output, write_markdown)
    else:
        print(write_markdown(results))
    bad = [row for row in results["rows"] if "failed" in row or row.get("wrong")]
    if bad:
        print(f"error: {len(bad)} of {len(cases)} convolutions failed or are wrong", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
