#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Virtual threads: where they pay and where they do not.

    benchmarks/vthreads.py --target=cpu  --runner=build/release/bin/gpu-runner
    benchmarks/vthreads.py --target=cuda --runner=gpu-runner --output=vthreads.md --json=vthreads.json

Matrix products whose workgroup's and subgroup's tiles stay as they are, while the subgroup's tile
is cut into grids of virtual threads, 1x1 (none) among them, in each order of interleaving. All
variants of a case are timed in turn, `--rounds` times, so that what disturbs the machine disturbs
all. The report has for each the median of its rounds' medians, and the median of its rounds' ratios to
1x1 in the same round: above 1, virtual threads are faster. The spread is the smallest and the
largest of these ratios. Data is random; every variant is verified in its first round.

Writes tables in Markdown to --output, or to standard output, and all numbers to --json, after each
case.
"""

import argparse
import datetime
import json
import platform
import re
import statistics
import sys
import tempfile

from cases import TYPES
from client import Client, Failed

# type, (M, N, K), workgroup's tile, subgroup's tile, k, kFragment, stages
CASES = {
    "cpu": [
        ("f32", (512, 512, 512), (8, 32), (8, 32), 1, 1, 0),
        ("f32", (512, 512, 512), (16, 32), (16, 32), 1, 1, 0),
        ("f32", (512, 512, 512), (16, 64), (16, 64), 1, 1, 0),
        ("f32", (96, 1024, 512), (8, 64), (8, 64), 4, 1, 0),
        ("f64", (512, 512, 512), (8, 16), (8, 16), 1, 1, 0),
        ("f64", (512, 512, 512), (16, 32), (16, 32), 1, 1, 0),
    ],
    "cuda": [
        ("f16", (4096, 4096, 4096), (128, 128), (64, 64), 32, 16, 4),
        ("f16", (4096, 4096, 4096), (128, 256), (64, 64), 32, 16, 3),
        ("f16", (4096, 4096, 4096), (64, 64), (32, 32), 32, 16, 4),
        ("f16", (1024, 1024, 1024), (64, 64), (32, 32), 32, 16, 4),
        ("f16", (128, 4096, 4096), (64, 64), (32, 32), 64, 16, 4),
        ("bf16", (4096, 4096, 4096), (128, 128), (64, 64), 32, 16, 4),
        ("tf32", (4096, 4096, 4096), (128, 128), (64, 64), 16, 8, 4),
        ("i8", (4096, 4096, 4096), (128, 128), (64, 64), 64, 32, 4),
        ("f64", (2048, 2048, 2048), (128, 64), (64, 32), 16, 16, 3),
    ],
}

GRIDS = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2)]


# As in a schedule: the number of interleaved virtual threads.
ORDERS = {"breadth_first": 0, "depth_first": 1, "groups(2)": 2, "-": 0}


def orders(grid):
    """The orders that differ for a grid."""
    count = grid[0] * grid[1]
    if count == 1:
        return ["-"]
    return ["breadth_first", "depth_first"] + (["groups(2)"] if count > 2 else [])


def schedule(case, grid, order):
    _, _, workgroup, subgroup, k, k_fragment, stages = case
    return (f"#tessera.schedule<workgroup = {list(workgroup)}, subgroup = {list(subgroup)}, k = {k}, "
            f"kFragment = {k_fragment}, stages = {stages}, vthread = {list(grid)}, interleave = {ORDERS[order]}>")


def matmul(operand, result, m, n, k, attribute):
    """The text of a matrix product under the schedule `attribute`."""
    zero = "0" if result.startswith("i") else "0.0"
    a, b, c = f"tensor<{m}x{k}x{operand}>", f"tensor<{k}x{n}x{operand}>", f"tensor<{m}x{n}x{result}>"
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant {zero} : {result}
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : {result}) outs(%empty : {c}) -> {c}
  %r = linalg.matmul {{tessera.schedule = {attribute}}} ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  return %r : {c}
}}
"""


class Variant:
    """One grid in one order, and what was measured of it."""

    def __init__(self, case, grid, order):
        self.grid, self.order = grid, order
        self.times, self.ratios = [], []
        self.report = self.refused = None
        operand, result, self.options = TYPES[case[0]]
        self.file = tempfile.NamedTemporaryFile("w", suffix=".mlir")
        self.file.write(matmul(operand, result, *case[1], schedule(case, grid, order)))
        self.file.flush()

    def measure(self, client):
        if self.refused:
            return
        options = ["--arg=random:1", "--arg=random:2", "--bench", *self.options]
        try:
            self.report = client.run(self.file.name, options if self.times else ["--verify", *options])
        except Failed as failure:
            if failure.status == 3:
                sys.exit(f"error: wrong numbers: {self.file.name}: {failure}")
            self.refused = re.sub(r"^.*?error: ", "", str(failure))
            return
        self.times.append(self.report["bench"]["median_ms"])

    def kernel(self):
        """The report of the kernel that the schedule made: the one that has it."""
        return next((kernel for kernel in self.report["kernels"] if kernel.get("schedule")), {})

    def to_json(self):
        entry = {"grid": list(self.grid), "order": self.order}
        if self.refused:
            return {**entry, "refused": self.refused}
        kernel = self.kernel()
        return {**entry, "schedule": kernel.get("schedule"), "median_ms": statistics.median(self.times),
                "times_ms": self.times, "ratio": statistics.median(self.ratios) if self.ratios else None,
                "ratios": self.ratios, "registers": kernel.get("registers"),
                "spill_bytes": kernel.get("spill_bytes"),
                "workgroups_per_unit": kernel.get("workgroups_per_unit"),
                "instruction": self.report["products"][0]["instruction"]}


def measure_case(args, client, case):
    variants = [Variant(case, grid, order) for grid in args.grids for order in orders(grid)
                if order in ("-", *args.orders)]
    for turn in range(args.rounds):
        # Back and forth: the first one is not always the same.
        for variant in variants if turn % 2 == 0 else reversed(variants):
            variant.measure(client)
        if variants[0].refused:
            sys.exit(f"error: the case without virtual threads: {variants[0].refused}")
        for variant in variants:
            if not variant.refused:
                variant.ratios.append(variants[0].times[-1] / variant.times[-1])
    return variants


def describe(case):
    kind, shape, workgroup, subgroup, k, k_fragment, stages = case
    return (f"{kind} {'x'.join(map(str, shape))}, workgroup {workgroup[0]}x{workgroup[1]}, subgroup "
            f"{subgroup[0]}x{subgroup[1]}, k {k}/{k_fragment}, {stages} stages")


def number(value):
    return "-" if value is None or value < 0 else str(value)


def table(args, case, variants):
    unit, scale = ("TFLOP/s", 1.0) if args.target == "cuda" else ("GFLOP/s", 1e3)
    m, n, k = case[1]
    best = max((v for v in variants if not v.refused), key=lambda v: statistics.median(v.ratios))
    lines = [f"## {describe(case)}", "",
             f"`{variants[0].report['products'][0]['instruction']}`", "",
             f"| vthreads | order | ms | {unit} | ratio to 1x1 | spread | registers | spilled bytes |",
             "|---|---|---|---|---|---|---|---|"]
    for variant in variants:
        grid = f"{variant.grid[0]}x{variant.grid[1]}"
        if variant.refused:
            lines.append(f"| {grid} | {variant.order} | rejected: {variant.refused.replace('|', '/')} "
                         "| - | - | - | - | - |")
            continue
        ms, ratio = statistics.median(variant.times), statistics.median(variant.ratios)
        kernel = variant.kernel()
        mark = "**" if variant is best and variant.grid != (1, 1) else ""
        lines.append(
            f"| {grid} | {variant.order} | {ms:.4f} | {2e-9 * m * n * k / ms * scale:.1f} "
            f"| {mark}{ratio:.3f}{mark} | {min(variant.ratios):.3f} to {max(variant.ratios):.3f} "
            f"| {number(kernel.get('registers'))} | {number(kernel.get('spill_bytes'))} |")
    # Faster in the median may be noise; faster in every round is something.
    sure = [v for v in variants[1:] if not v.refused and min(v.ratios) > 1]
    slower = [v for v in variants[1:] if not v.refused and max(v.ratios) < 1]
    lines += ["", f"{len(sure)} of {len(variants) - 1} variants with virtual threads were faster than "
                  f"none in every round, {len(slower)} slower in every round."]
    spilling = [v for v in variants if not v.refused and (v.kernel().get("spill_bytes") or 0) > 0]
    if spilling:
        lines.append("Registers spill with " + ", ".join(
            f"{v.grid[0]}x{v.grid[1]} {v.order}".removesuffix(" -") for v in spilling) + ".")
    return lines + [""]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=CASES, default="cpu")
    parser.add_argument("--runner", default="gpu-runner")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", default="", help="regular expression for the cases' headings")
    parser.add_argument("--grids", default=",".join(f"{m}x{n}" for m, n in GRIDS),
                        help="grids, as 2x1,1x2; 1x1 is always there")
    parser.add_argument("--orders", default="breadth_first,depth_first,groups(2)",
                        help="those of the orders that are measured")
    parser.add_argument("--output", help="where the Markdown goes")
    parser.add_argument("--json", help="where the numbers go")
    args = parser.parse_args()
    args.grids = [(1, 1)] + [grid for text in args.grids.split(",")
                             if (grid := tuple(map(int, text.split("x")))) != (1, 1)]
    args.orders = args.orders.split(",")

    client = Client(args.runner, args.target)
    results, body = [], []
    for case in CASES[args.target]:
        if not re.search(args.cases, describe(case)):
            continue
        variants = measure_case(args, client, case)
        lines = table(args, case, variants)
        print("\n".join(lines), file=sys.stderr)
        body += lines
        results.append({"case": describe(case), "variants": [v.to_json() for v in variants]})
        # After each case, so that measurements survive the end of the command.
        write(args, variants[0].report["device"], results, body)
    client.close()
    if not results:
        sys.exit(f"error: no case matches '{args.cases}'")
    if not args.output:
        print("\n".join(body))


def write(args, device, results, body):
    text = [f"# Virtual threads on {device.get('name', args.target)}", "",
            f"{datetime.date.today()}; {platform.platform()}.", "",
            f"Command: `benchmarks/vthreads.py --target={args.target} --rounds={args.rounds}`.", "",
            "Random data; every variant verified; medians of rounds in which all variants alternated. The",
            "ratio is the time without virtual threads over the time with them, in the same round: above 1,",
            "they pay.", "", *body]
    if args.output:
        with open(args.output, "w") as file:
            file.write("\n".join(text))
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"device": device, "target": args.target, "rounds": args.rounds,
                       "cases": results}, file, indent=1)


if __name__ == "__main__":
    main()
