#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures by Nsight Compute what limits the shapes that cliffs.py found below a ratio, on both sides.

    benchmarks/cliffs.py --target=cuda --cache=/tmp/cliffs --output=results/cliffs
    benchmarks/cliff_causes.py results/cliffs.json --cache=/tmp/cliffs --output=results/causes

Requires what cliffs.py requires, and `ncu`. One process calls ours and the library's fastest way once for each
shape, after calls that are not profiled; a kernel of another name marks where the one ends and the other begins.
Writes OUTPUT.md and OUTPUT.json. Exit status 1 if a shape could not be profiled.
"""

import argparse
import csv
import datetime
import json
import os
import shlex
import subprocess
import sys
import tempfile
import textwrap

import bench
import cliffs
import shapes

#: Shares of what the unit can do, in percent, by the name that the table gives them.
SHARES = {
    "DRAM": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "L1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "tensor": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "FP64": "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
    "FMA": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "ALU": "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
}
TIME, WARPS, WAVES = "gpu__time_duration.sum", "sm__warps_active.avg.per_cycle_active", "launch__waves_per_multiprocessor"
LAUNCH = {"registers": "launch__registers_per_thread", "workgroups": "launch__grid_size", "threads": "launch__block_size"}
#: Why warps do not issue, in the words of Nsight Compute, and in ours.
STALLS = {"long_scoreboard": "data from L2 or memory", "short_scoreboard": "data from shared memory", "barrier": "a barrier",
          "mio_throttle": "the queue to shared memory", "lg_throttle": "the queue to global memory", "wait": "fixed latencies",
          "math_pipe_throttle": "a busy pipe", "gmma": "wgmma", "membar": "a memory barrier", "drain": "stores",
          "imc_miss": "constants", "no_instruction": "instructions", "branch_resolving": "branches", "dispatch_stall": "dispatch",
          "sleeping": "sleep", "tex_throttle": "the texture queue"}
#: From this share of a unit on, the unit is what limits a kernel.
BUSY = 60
METHOD = """Nsight Compute profiles one call of each side, with caches flushed before each kernel and clocks as they are;
its times are those of kernels alone, without what lies between them. Shares are of the unit's peak: DRAM, L2, L1 (with shared
memory), the pipes, and issue slots. A side is limited by the unit with the largest share, if that is {busy} % or more, in its
longest kernel; otherwise by latency, with what its warps wait for most (cycles of waiting for each instruction). waves: rounds
of workgroups over the GPU; warps: those that an SM has at once, in the mean."""


def stall(name):
    return f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"


METRICS = [TIME, WARPS, WAVES, *SHARES.values(), *LAUNCH.values(), *map(stall, STALLS)]
MARK = "spin_kernel"


# -- The process that is profiled ----------------------------------------------------------------------------


def call_all(options, names):
    """Calls both sides of each shape. Prints the name of each shape that it has called."""
    settings = cliffs.Options(options.target, options.cache, loads=True, flags=["ptxas"], windows=1, runs=1, graphs=False)
    measurer, compiler = cliffs.Measurer(settings), cliffs.Compiler(settings)
    torch, library = measurer.torch, measurer.library
    known = {case.name: case for case in shapes.all_cases(options.seed, options.drawn)}
    for name, way_name in names:
        case = known[name]
        try:
            made = compiler.do(case)
            if "failed" in made:
                raise RuntimeError(made["failed"])
            entry = measurer.tessera.load(made["bundle"]).entry(None, measurer.device)
            arguments = tuple(library.make_random(slot.element, slot.shape, measurer.clock.device)
                              for slot in entry.signature.arguments)
            library.set_tf32(case.type == "tf32")
            way = next(way for way in library.make_ways(case) if way.name == way_name)
            prepared = way.prepare(*arguments)
            way.select()
            with torch.no_grad():
                for _ in range(3):
                    entry(*arguments)
                    way.call(*prepared)
                torch.cuda.synchronize()
                torch.cuda.profiler.start()
                torch.cuda._sleep(1)
                entry(*arguments)
                torch.cuda._sleep(1)
                way.call(*prepared)
                torch.cuda.synchronize()
                torch.cuda.profiler.stop()
        except Exception as error:  # One shape must not end the profile of the others.
            print(json.dumps({"name": name, "failed": cliffs.first_line(error)}), file=options.log, flush=True)
            continue
        print(json.dumps({"name": name}), file=options.log, flush=True)
        measurer.clock.release()


# -- Results -------------------------------------------------------------------------------------------------


def read_kernels(path):
    """The kernels of a file of `ncu --csv --page raw`, in order: each a dictionary of numbers by metric."""
    with open(path, newline="") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    if len(rows) < 2:
        return []
    header, units = rows[0], rows[1]
    scale = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
    kernels = []
    for row in rows[2:]:
        kernel = {"name": row[header.index("Kernel Name")]}
        for metric in METRICS:
            if metric in header:
                at = header.index(metric)
                try:
                    kernel[metric] = float(row[at].replace(",", "")) * (scale.get(units[at], 1) if metric == TIME else 1)
                except ValueError:
                    pass
        kernels.append(kernel)
    return kernels


def split_at_marks(kernels):
    """Lists of kernels, one after each mark."""
    groups = []
    for kernel in kernels:
        if MARK in kernel["name"]:
            groups.append([])
        elif groups:
            groups[-1].append(kernel)
    return groups


def find_limit(kernel):
    unit, share = max(((unit, kernel.get(metric, 0)) for unit, metric in SHARES.items()), key=lambda pair: pair[1])
    if share >= BUSY:
        return f"{unit} {share:.0f} %"
    waits = sorted(((kernel.get(stall(name), 0), text) for name, text in STALLS.items()), reverse=True)[:2]
    return "latency: " + ", ".join(f"{text} ({cycles:.1f})" for cycles, text in waits)


def describe(kernels):
    """One line for each side: its time, its longest kernel, and what limits that."""
    longest = max(kernels, key=lambda kernel: kernel.get(TIME, 0))
    shares = ", ".join(f"{unit} {longest.get(metric, 0):.0f}" for unit, metric in SHARES.items()
                       if unit in ("DRAM", "L2", "L1", "tensor", "issue") or longest.get(metric, 0) >= BUSY)
    times = " + ".join(f"{kernel.get(TIME, 0):.1f}" for kernel in kernels)
    name = longest["name"].split("(")[0].split("<")[0].split("::")[-1].removeprefix("void ")[:60]
    return (f"{times} us in {len(kernels)} kernel{'s' if len(kernels) > 1 else ''}; the longest, `{name}`: {find_limit(longest)}; {shares} %; "
            f"{longest.get(WAVES, 0):.2f} waves, {longest.get(WARPS, 0):.0f} warps, {longest.get(LAUNCH['registers'], 0):.0f} registers")


def write_markdown(results):
    lines = [f"# What limits the cliffs on {results['device']}", "", results["date"], "", f"Command: `{results['command']}`", "",
             f"- library: {results['library']}", f"- clocks: {results['clocks']}",
             f"- {len(results['rows'])} shapes below {results['below']:.2f}", "",
             *textwrap.wrap(METHOD.format(busy=BUSY), 100), ""]
    for row in results["rows"]:
        lines += [f"## {row['name']}: {row['ratio']:.2f}", ""]
        if "failed" in row:
            lines += [f"- not profiled: {row['failed']}", ""]
            continue
        for side, text in (("ours", "ours"), ("library", row["way"])):
            lines += textwrap.wrap(f"- {text}: {describe(row[side])}", 100, subsequent_indent="  ",
                                   break_long_words=False, break_on_hyphens=False)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def profile(options, found, rows):
    names = [(row["name"], row["way"]) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        report, log = os.path.join(folder, "kernels"), os.path.join(folder, "log")
        with open(os.path.join(folder, "names"), "w") as file:
            json.dump(names, file)
        child = [sys.executable, os.path.abspath(__file__), options.results, f"--cache={options.cache}",
                 f"--target={options.target}", f"--call={file.name}", f"--log={log}"]
        collect = [options.ncu, "--profile-from-start=off", "--target-processes=application-only", "--clock-control=none",
                   f"--metrics={','.join(METRICS)}", "-f", "-o", report, *child]
        ended = subprocess.run(collect, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=options.limit)
        with open(f"{report}.csv", "w") as file:
            subprocess.run([options.ncu, "--import", f"{report}.ncu-rep", "--page=raw", "--csv"], stdout=file, check=False)
        groups = split_at_marks(read_kernels(f"{report}.csv"))
        with open(log) as file:
            called = [json.loads(line) for line in file]
    by_name = {row["name"]: row for row in rows}
    done = [entry["name"] for entry in called if "failed" not in entry]
    for entry in called:
        by_name[entry["name"]].update({key: value for key, value in entry.items() if key == "failed"})
    if len(groups) != 2 * len(done):
        sys.exit(f"error: {len(done)} shapes were called, and {len(groups)} marks found; ncu printed:\n{ended.stdout[-2000:]}")
    for name, ours, theirs in zip(done, groups[::2], groups[1::2]):
        if ours and theirs:
            by_name[name].update(ours=ours, library=theirs)
        else:
            by_name[name]["failed"] = "a side launched no kernel"
    for row in rows:
        if "ours" not in row:
            row.setdefault("failed", "the process ended before")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="the file that cliffs.py --output wrote, .json")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--cache", metavar="DIR", required=True, help="the cache of cliffs.py")
    parser.add_argument("--below", type=float, default=cliffs.CLIFF, help="profile shapes whose ratio is below this")
    parser.add_argument("--ncu", default="ncu", help="the program of Nsight Compute")
    parser.add_argument("--limit", type=float, default=600, help="seconds for everything")
    parser.add_argument("--output", help="without a suffix; otherwise the text is printed")
    parser.add_argument("--call", help=argparse.SUPPRESS)
    parser.add_argument("--log", type=argparse.FileType("w"), help=argparse.SUPPRESS)
    options = parser.parse_args()

    with open(options.results) as file:
        found = json.load(file)
    options.seed, options.drawn = found["seed"], sum(row["drawn"] for row in found["rows"])
    if options.call:
        with open(options.call) as file:
            call_all(options, json.load(file))
        return 0
    rows = [{key: row[key] for key in ("name", "kind", "ratio", "way")}
            for row in sorted(found["rows"], key=lambda row: row.get("ratio", 1)) if row.get("ratio", 1) < options.below]
    if not rows:
        sys.exit(f"error: no shape of {options.results} is below {options.below}")
    profile(options, found, rows)
    results = {"date": datetime.date.today().isoformat(), "device": found["device"], "library": found["library"], "clocks": bench.clocks(), "below": options.below,
               "command": shlex.join(["benchmarks/cliff_causes.py", *sys.argv[1:]]), "rows": rows}
    if options.output:
        for suffix, text in ((".md", write_markdown(results)), (".json", json.dumps(results, indent=1) + "\n")):
            with open(options.output + suffix, "w") as file:
                file.write(text)
    else:
        print(write_markdown(results), end="")
    failed = sum("failed" in row for row in rows)
    print(f"{len(rows) - failed} of {len(rows)} shapes profiled", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
