#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gpu-runner beside the vendor's libraries, in one run.

    benchmarks/bench.py --target=cuda --runner=gpu-runner --output=results
    benchmarks/bench.py --target=cuda --suite=conv,batched --peer=torch,compile
    benchmarks/bench.py --target=cpu  --runner=build/release/bin/gpu-runner

Writes results.md, results.json and results.html (the roofline, and a bar for each ratio). Peers on
CUDA are PyTorch (cuBLAS, cuDNN), its compiler (`compile`, for fused cases) and Triton (`triton`);
on the CPU, OpenBLAS. Both sides get random data and start each timed run with cold caches; they take
turns, --rounds times, with equally many runs. Ours is verified in the run that times it: numbers that are wrong are a failure
of the case, and of the command. Cases that a library rejects state the reason.
"""

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile

import cases
import peers
import report
from client import Client, Failed


def query_gpu(fields):
    """Reads fields of the first device from nvidia-smi."""
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True,
                              text=True, timeout=20)
        return done.stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "unknown"


def clocks():
    """The device's clocks and power, as its driver reports them."""
    return query_gpu("clocks.sm,clocks.max.sm,clocks.mem,power.draw,power.limit,temperature.gpu")


def correctness(entry):
    """The largest error that --verify found, and how much it compared."""
    verify = entry.get("verify") or {}
    if not verify.get("passed"):
        return "not verified"
    worst = max((output.get("max_abs_error") or 0 for output in verify["outputs"]), default=0)
    return f"max abs err {worst:.1e}, {verify['checked']}"


class Ours:
    """gpu-runner's side of one case."""

    def __init__(self, client, case, folder):
        self.client, self.case = client, case
        self.path = os.path.join(folder, "case.mlir")
        with open(self.path, "w") as file:
            file.write(case.program)
        self.times, self.report, self.runs = [], None, 0

    def run(self):
        options = [f"--arg=random:{i + 1}" for i in range(self.case.arguments)]
        options += ["--bench", *self.case.options]
        if self.report is None:
            options.append("--verify")
        got = self.client.run(self.path, options)
        self.report = self.report or got
        self.times.append(got["bench"]["median_ms"])
        self.runs = got["bench"]["runs"]


def measure(case, client, sides, rounds, folder):
    """One row of the results."""
    row = {"suite": case.suite, "name": case.name, "type": case.type, "shape": list(case.shape), "flops": case.flops,
           "bytes": case.bytes, "program": case.program, "peers": {}}
    calls = {}
    for name, peer in sides.items():
        try:
            calls[name] = peer.prepare(case)
            row["peers"][name] = {"times": []}
            if "backend" in case.more:
                row["peers"][name]["backend"] = case.more["backend"]
        except peers.Rejected as refusal:
            row["peers"][name] = {"refused": str(refusal)}
    ours = Ours(client, case, folder)
    try:
        for _ in range(rounds):
            ours.run()
            for name, once in calls.items():
                # As many as ours: a device that has been busy for longer is slower.
                row["peers"][name]["times"].append(peers.measure(once, ours.runs))
    except Failed as failure:
        row["error"] = str(failure)
        return row
    for name in calls:
        row["peers"][name]["ms"] = statistics.median(row["peers"][name]["times"])
    product = (ours.report.get("products") or [{}])[0]
    kernel = (ours.report.get("kernels") or [{}])[0]
    row.update(ms=statistics.median(ours.times), times=ours.times, correct=correctness(ours.report),
               instruction=product.get("instruction", "-"), schedule=kernel.get("schedule", ""),
               device=ours.report.get("device", {}))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=peers.DEFAULTS, default="cpu")
    parser.add_argument("--runner", default="gpu-runner")
    parser.add_argument("--suite", help=f"of {', '.join(cases.SUITES)}; all of the target's if not given")
    parser.add_argument("--peer", help=f"of {', '.join(peers.PEERS)}")
    parser.add_argument("--only", help="cases whose names hold this text")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", help="where to write OUTPUT.md, .json and .html; else the table is printed")
    args = parser.parse_args()

    suites = args.suite.split(",") if args.suite else \
        ["cpu"] if args.target == "cpu" else [name for name in cases.SUITES if name != "cpu"]
    unknown = [name for name in suites if name not in cases.SUITES]
    wanted = args.peer.split(",") if args.peer else peers.DEFAULTS[args.target]
    unknown += [name for name in wanted if name not in peers.PEERS]
    if unknown:
        sys.exit(f"error: unknown: {', '.join(unknown)}; see --help")
    sides = {}
    for name in wanted:
        try:
            sides[name] = peers.PEERS[name]()
        except peers.Rejected as refusal:
            print(f"note: no peer {name}: {refusal}", file=sys.stderr)

    results = {"title": f"gpu-runner: {', '.join(suites)}", "target": args.target, "date": str(datetime.date.today()),
               "system": platform.platform(), "device": {},
               "command": "benchmarks/bench.py " + " ".join(sys.argv[1:]),
               "peers": {name: peer.name for name, peer in sides.items()},
               "clocks": {"before": clocks()} if args.target == "cuda" else {}, "rows": []}
    client = Client(args.runner, args.target)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in (case for suite in suites for case in cases.SUITES[suite]):
            if args.only and args.only not in case.name:
                continue
            row = measure(case, client, sides, args.rounds, folder)
            results["rows"].append(row)
            results["device"] = row.pop("device", None) or results["device"]
            failures += "error" in row
            print(f"{case.name}: " + (f"failed: {row['error']}" if "error" in row else
                  f"{row['ms']:.4f} ms, {report.rate(row):.2f} TFLOP/s, ratio {report.number(report.ratio(row))}"),
                  file=sys.stderr, flush=True)
            # Write the finished cases, in case the run is cut short.
            if args.output:
                report.write(results, args.output)
    client.close()
    if args.target == "cuda":
        results["clocks"]["after"] = clocks()
    if args.output:
        report.write(results, args.output)
    else:
        print(report.markdown(results))
    if failures:
        sys.exit(f"error: {failures} of {len(results['rows'])} cases failed")


if __name__ == "__main__":
    main()
