#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hundreds of shapes of all kinds beside the best library for each, to find cliffs.

    benchmarks/cliffs.py --target=cuda --seed=1 --output=docs/benchmarks/h200-cliffs
    benchmarks/cliffs.py --kinds=conv,attention --budget=240
    benchmarks/cliffs.py --target=cuda:sm_90a --compile-only      # on a machine without a GPU
    benchmarks/cliffs.py --merge results/a.json results/b.json --output=results/both

Requires the package `tessera` (scripts/python.sh) and PyTorch, whose libraries (cuBLAS, cuDNN, the backends
of scaled_dot_product_attention) are the other side. The shapes are in shapes.py; --drawn of them are drawn
at random from --seed. All programs are compiled first, by as many processes as there are cores, into
--cache; then one process measures shape by shape, and is replaced if a shape ends it or takes longer than
--limit. Shapes for which --budget leaves no time are reported as not measured.

Writes OUTPUT.md and OUTPUT.json. Exit status 1 if a program fails, or its result is wrong.
"""

import argparse
import dataclasses
import datetime
import hashlib
import itertools
import json
import math
import os
import platform
import shlex
import statistics
import sys
import tempfile
import textwrap
import time

import bench
import report
import shapes
from processes import Pool, Unusable, first_line

#: A ratio below it is a cliff.
CLIFF = 0.85
#: The milliseconds that a window lasts at least.
WINDOW_MS = 8.0
#: As in gpu-runner --bench: copies of the arguments, and the time of all of them in milliseconds at most.
MOST_COPIES, LONGEST_MS = 64, 100.0
METHOD = """Both sides run in one process, on the same random data and in PyTorch's current stream: ours as calls of
the Python package, the library as calls of PyTorch. settled: the median of {windows} windows, which alternate
between the sides. In a window {form} is repeated for {window} ms or more. It has a call for each copy of
the arguments, one after the other. There are as many copies as exceed twice the L2 (at most {copies}), and each has a
result of its own, so that no call finds its data in the cache unless all {copies} copies fit. cold: the median of
{cold} calls, which alternate as well. Each follows a fill of 256 MiB, and is timed by events on both sides of it.
gpu-runner --bench measures in the same two ways, with one long window. The library's time is that of its fastest
way: 8-bit matmuls with B along K or N, padded ahead of time where the library demands it; attention with each
backend; convolutions with channels_last (or NCHW, if the case is) and cudnn.benchmark; all else as the case is
stored. Its filters and padded operands are prepared before the time begins. ratio: the library's settled time by
ours; above 1, ours is faster. Schedules are the compiler's own choice, without tuning. Every result of ours is
compared with one in a wider type (of attention some heads); error is its largest difference as a share of the
permitted one."""


def is_host(target):
    return target.partition(":")[0] == "cpu"


# -- Compiling ---------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Options:
    """Settings of the processes."""

    target: str
    cache: str
    loads: bool
    flags: list
    #: Settled, and with cold caches.
    windows: int
    runs: int
    #: Whether the calls of a window are replayed as a graph, if the device has graphs.
    graphs: bool

    def get_device(self):
        """The target without a chip."""
        return self.target.partition(":")[0]


class Compiler:
    """Compiles cases to bundles in the cache, and loads each once, so that the driver compiles its PTX."""

    def __init__(self, options):
        # The driver keeps the code that it compiles beside the bundles.
        os.environ.setdefault("CUDA_CACHE_PATH", os.path.join(options.cache, "driver"))
        os.environ.setdefault("CUDA_CACHE_MAXSIZE", str(4 << 30))
        import tessera
        self.tessera, self.options = tessera, options
        self.device = tessera.Device.get(options.get_device()) if options.loads else None
        self.about = {"device": repr(self.device) if self.device else options.target}
        # A bundle is good for the compiler that made it, and for a chip.
        folder = os.path.dirname(tessera.__file__)
        files = sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns)
                       for part, _, _ in os.walk(folder) for e in os.scandir(part) if ".so" in e.name)
        self.stamp = repr([options.target, options.flags, self.device and self.device.chip, tessera.__version__, files])

    def do(self, case):
        text = "\n".join([self.stamp, *case.options, case.program])
        path = os.path.join(self.options.cache, hashlib.sha256(text.encode()).hexdigest()[:32] + ".bundle")
        result = {"bundle": path}
        try:
            start = time.perf_counter()
            if not os.path.exists(path):
                program = self.tessera.compile(case.program, target=self.options.target, file=f"{case.name}.mlir",
                                               flags=[*self.options.flags, *(option.removeprefix("--") for option in case.options)])
                program.save(path)
                result["compile_s"] = round(time.perf_counter() - start, 3)
            if self.device:
                start = time.perf_counter()
                self.tessera.load(path).entry(None, self.device)
                result["load_s"] = round(time.perf_counter() - start, 3)
        except self.tessera.Error as error:
            return {"failed": first_line(error)}
        return result


# -- Measuring ---------------------------------------------------------------------------------------------


def repeat(call, copies):
    """A function that runs `call` on each copy, and the list of its results."""
    results = []

    def run():
        results[:] = [call(*copy) for copy in copies]
    return run, results


class CudaClock:
    """Times by the device's events, and replays CUDA graphs."""

    device = "cuda"

    def __init__(self, torch, graphs):
        self.torch, self.graphs = torch, graphs
        self.cache = torch.cuda.get_device_properties(0).L2_cache_size or 64 << 20
        self.scratch = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
        self.pattern = 0

    def free_bytes(self):
        return self.torch.cuda.mem_get_info()[0]

    def synchronize(self):
        self.torch.cuda.synchronize()

    def release(self):
        """Returns unused memory to the driver, from which Tessera allocates."""
        if self.torch.cuda.memory_reserved() > 16 << 30:
            self.torch.cuda.empty_cache()

    def record(self, call, copies):
        """Returns a function that runs `call` on each copy, and the list of its results."""
        if not self.graphs:
            return repeat(call, copies)
        results = []
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            for copy in copies:
                results.append(call(*copy))
        return graph.replay, results

    def begin(self):
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    end = begin

    def between(self, begin, end):
        """Milliseconds; waits."""
        end.synchronize()
        return begin.elapsed_time(end)

    def flush(self):
        self.pattern = (self.pattern + 1) % 127
        self.scratch.fill_(self.pattern)

    def is_healthy(self):
        """Returns whether later cases can be measured in this process."""
        try:
            self.synchronize()
            value = self.torch.ones(8, device="cuda")
            replay, results = self.record(self.torch.add, [(value, value)])
            replay()
            self.synchronize()
            return bool((results[0] == 2).all())
        except RuntimeError:
            return False


class HostClock:
    """Times calls on the CPU, which has no graphs."""

    device = "cpu"

    def __init__(self, torch):
        self.torch, self.cache = torch, 64 << 20
        self.scratch = torch.empty(64 << 20, dtype=torch.uint8)

    def free_bytes(self):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def synchronize(self):
        pass

    release = synchronize

    def record(self, call, copies):
        return repeat(call, copies)

    def begin(self):
        return time.perf_counter()

    end = begin

    def between(self, begin, end):
        return (end - begin) * 1e3

    def flush(self):
        self.scratch.fill_(1)

    def is_healthy(self):
        return True


class Side:
    """One side's calls of a case."""

    def __init__(self, clock, call, copies, select=lambda: None):
        self.clock, self.call, self.copies, self.select = clock, call, copies, select
        self.settled, self.cold = [], []
        self.select()
        # The first call loads, allocates and, in cuDNN, searches; the next may make a graph of its own.
        for _ in range(2):
            call(*copies[0])
        clock.synchronize()
        begin = clock.begin()
        call(*copies[0])
        self.single = clock.between(begin, clock.end())

    def record(self, count):
        self.copies = self.copies[:count]
        self.select()
        self.run, self.results = self.clock.record(self.call, self.copies)
        self.run()
        time_of_all = self.time_replays(1)
        self.replays = max(1, min(math.ceil(WINDOW_MS / max(time_of_all, 1e-3)), 1000))

    def time_replays(self, count):
        self.clock.synchronize()
        begin = self.clock.begin()
        for _ in range(count):
            self.run()
        return self.clock.between(begin, self.clock.end())

    def time_window(self):
        self.settled.append(self.time_replays(self.replays) / self.replays / len(self.copies))

    def queue_cold(self, index):
        self.clock.flush()
        begin = self.clock.begin()
        self.call(*self.copies[index % len(self.copies)])
        self.cold.append((begin, self.clock.end()))

    def get_times(self):
        return {"settled": statistics.median(self.settled),
                "cold": statistics.median(self.clock.between(*pair) for pair in self.cold)}


class Measurer:
    """Measures cases, whose programs are in bundles, beside the library."""

    def __init__(self, options):
        os.environ.setdefault("CUDA_CACHE_PATH", os.path.join(options.cache, "driver"))
        os.environ.setdefault("CUDA_CACHE_MAXSIZE", str(4 << 30))
        import torch
        import library
        import tessera
        self.options, self.torch, self.library, self.tessera = options, torch, library, tessera
        on_host = options.get_device() == "cpu"
        if not on_host and not torch.cuda.is_available():
            raise Unusable("PyTorch finds no GPU")
        torch.backends.cudnn.benchmark = True
        torch.manual_seed(0)
        self.clock = HostClock(torch) if on_host else CudaClock(torch, options.graphs)
        self.device = tessera.Device.get(options.get_device())
        versions = "" if on_host else (f" (cuBLAS {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()})")
        self.about = {"device": self.device.name, "chip": self.device.chip,
                      "library": f"PyTorch {torch.__version__}{versions}", "tessera": tessera.__version__}

    def do(self, task):
        case, bundle = task
        row = {}
        try:
            with self.torch.no_grad():
                self.measure(case, bundle, row)
        except Exception as error:  # One case must not end the measurement of the others.
            row = {"failed": first_line(error)}
        self.clock.release()
        if not self.clock.is_healthy():
            row["is_last"] = True
        return row

    def measure(self, case, bundle, row):
        program = self.tessera.load(bundle)
        entry = program.entry(None, self.device)
        row["program"] = program.describe().strip().splitlines()
        arguments = tuple(self.library.make_random(slot.element, slot.shape, self.clock.device)
                          for slot in entry.signature.arguments)
        count = self.count_copies(case)
        copies = [arguments] + [tuple(t.clone() for t in arguments) for _ in range(count - 1)]
        ours = Side(self.clock, entry, copies)
        count = max(1, min(count, int(LONGEST_MS / max(ours.single, 1e-3))))
        ours.record(count)
        sides = [ours]
        theirs = self.choose_way(case, copies[:count], row)
        if theirs:
            sides.append(theirs)
            theirs.select()
        self.library.set_tf32(case.type == "tf32")
        for _ in range(self.options.windows):
            for side in sides:
                side.time_window()
        for index in range(self.options.runs):
            for side in sides:
                side.queue_cold(index)
        self.clock.synchronize()
        row.update(copies=count, ours=ours.get_times())
        if theirs:
            row["library"] = theirs.get_times()
            row["ratio"] = row["library"]["settled"] / row["ours"]["settled"]
            row["cold_ratio"] = row["library"]["cold"] / row["ours"]["cold"]
        # The last result of the last replay: this is a result that was timed.
        error, share = self.library.compare(case, ours.results[-1], arguments)
        row.update(wrong=not share <= 1, error=error if math.isfinite(error) else None,
                   error_share=share if math.isfinite(share) else None)

    def count_copies(self, case):
        """Returns the number of copies that exceed twice the cache and fit a part of the free memory."""
        wanted = 2 * self.clock.cache / max(case.bytes, 1) + 2
        return int(max(1, min(wanted, MOST_COPIES, self.clock.free_bytes() / 8 / max(case.bytes, 1))))

    def choose_way(self, case, copies, row):
        """Records each way of the library, and returns the fastest one; None if it has none."""
        best, row["ways"] = None, {}
        self.library.set_tf32(case.type == "tf32")
        for way in self.library.make_ways(case):
            if way.is_last_resort and best:
                continue
            try:
                side = Side(self.clock, way.call, [way.prepare(*copy) for copy in copies], way.select)
                side.record(len(copies))
                milliseconds = side.time_replays(side.replays) / side.replays / len(copies)
            except (RuntimeError, NotImplementedError, ValueError) as error:
                row["ways"][way.name] = first_line(error)
                self.clock.synchronize()
                continue
            row["ways"][way.name] = round(milliseconds, 6)
            if not best or milliseconds < best[0]:
                best = (milliseconds, side, way.name)
        if not best:
            return None
        row["way"] = best[2]
        return best[1]


# -- Results -----------------------------------------------------------------------------------------------


def make_row(case, more):
    return {"kind": case.kind, "name": case.name, "type": case.type, "shape": list(case.shape), "flops": case.flops,
            "bytes": case.bytes, "drawn": bool(case.more.get("drawn")), **more}


def describe_rate(row):
    """The settled rate of ours."""
    seconds = row["ours"]["settled"] / 1e3
    if row["flops"] / row["bytes"] >= 50:
        return f"{row['flops'] / seconds / 1e12:.4g} T/s"
    return f"{row['bytes'] / seconds / 1e9:.4g} GB/s"


def summarize(rows, key):
    values = [row[key] for row in rows if key in row]
    return (len(values), report.geometric_mean(values), min(values)) if values else (0, None, None)


def write_table(rows):
    lines = ["| case | ours | library | ratio | ours, cold | library, cold | ratio, cold | rate | library's way | error |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        if "ours" not in row:
            continue
        theirs = row.get("library", {})
        error = "wrong" if row["wrong"] else report.number(row["error_share"])
        lines.append(f"| {row['name']}{' (drawn)' if row['drawn'] else ''} | {row['ours']['settled']:.4f} | "
                     f"{report.number(theirs.get('settled'), 4)} | {report.number(row.get('ratio'))} | "
                     f"{row['ours']['cold']:.4f} | {report.number(theirs.get('cold'), 4)} | "
                     f"{report.number(row.get('cold_ratio'))} | {describe_rate(row)} | {row.get('way', '-')} | {error} |")
    return lines


def list_rows(title, rows, what):
    lines = [line for row in rows for line in textwrap.wrap(f"- {row['name']}: {what(row)}", 100, subsequent_indent="  ",
                                                            break_long_words=False, break_on_hyphens=False)]
    return ["", f"## {title}", "", *lines] if rows else []


def write_markdown(results):
    rows = results["rows"]
    method = METHOD.format(windows=results["windows"], window=f"{WINDOW_MS:g}", copies=MOST_COPIES, cold=results["runs"],
                           form="a CUDA graph" if results["graphs"] else "a loop of the host")
    lines = [f"# Cliffs on {results['device']}", "", f"{results['date']}; {results['system']}; {results['driver']}", "",
             f"Command: `{results['command']}`", "", f"- library: {results['library']}"]
    lines += [f"- clocks {when}: {clocks}" for when, clocks in results["clocks"].items()]
    lines += [f"- {len(rows)} shapes, {sum(row['drawn'] for row in rows)} of them drawn from seed {results['seed']}; "
              f"{sum('ours' in row for row in rows)} measured",
              f"- {results['seconds'].get('compile', 0)} s to compile, {results['seconds'].get('measure', 0)} s to measure", "", *textwrap.wrap(method, 100), "",
              "| kind | shapes | geometric mean | least | cold: geometric mean | least | below 0.85 |",
              "|---|---|---|---|---|---|---|"]
    below = [row for row in rows if row.get("ratio", 1) < CLIFF]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    for kind in [*kinds, "all"]:
        some = [row for row in rows if kind in ("all", row["kind"])]
        count, mean, least = summarize(some, "ratio")
        _, cold_mean, cold_least = summarize(some, "cold_ratio")
        lines.append(f"| {kind} | {count} | {report.number(mean, 3)} | {report.number(least)} | "
                     f"{report.number(cold_mean, 3)} | {report.number(cold_least)} | {sum(r in some for r in below)} |")
    lines += list_rows("Wrong", [row for row in rows if row.get("wrong")],
                       lambda row: f"largest error {report.number(row['error'], 6)}, {report.number(row['error_share'])} of the permitted one")
    lines += list_rows("Failed", [row for row in rows if "failed" in row], lambda row: row["failed"])
    lines += list_rows("Below 0.85", sorted(below, key=lambda row: row["ratio"]),
                       lambda row: f"{row['ratio']:.2f} (cold {row['cold_ratio']:.2f}), beside {row['way']}; "
                       f"`{'; '.join(row['program'][1:3])}`")
    lines += list_rows("Only cold below 0.85", [row for row in rows if row not in below and row.get("cold_ratio", 1) < CLIFF],
                       lambda row: f"{row['cold_ratio']:.2f} (settled {row['ratio']:.2f})")
    lines += list_rows("Without a library", [row for row in rows if "ours" in row and "library" not in row],
                       lambda row: "; ".join(f"{way}: {why}" for way, why in row["ways"].items()))
    lines += list_rows("Not measured", [row for row in rows if "skipped" in row], lambda row: row["skipped"])
    for kind in kinds:
        lines += ["", f"## {kind}", "", *write_table(row for row in rows if row["kind"] == kind)]
    slow = sorted((row for row in rows if row.get("compile_s", 0) > 2), key=lambda row: -row["compile_s"])
    lines += list_rows("More than 2 s to compile", slow, lambda row: f"{row['compile_s']:.1f} s")
    return "\n".join(lines) + "\n"


def write(results, output, page=write_markdown):
    """Writes OUTPUT.md, which `page` makes of the results, and OUTPUT.json."""
    folder = os.path.dirname(output)
    if folder:
        os.makedirs(folder, exist_ok=True)
    for suffix, text in ((".md", page(results)), (".json", json.dumps(results, indent=1) + "\n")):
        with open(output + suffix, "w") as file:
            file.write(text)


def merge(paths):
    """Joins the rows of several results; the last measurement of a shape counts."""
    results, rows, commands = None, {}, []
    for path in paths:
        with open(path) as file:
            part = json.load(file)
        if results and (part["device"], part["library"]) != (results["device"], results["library"]):
            sys.exit(f"error: {path} was measured with another device or library than {paths[0]}")
        results = results or part
        commands.append(part["command"])
        for row in part["rows"]:
            if row["name"] not in rows or "skipped" not in row:
                rows[row["name"]] = row
    results.update(command="; ".join(commands), rows=list(rows.values()))
    return results


# -- The run -----------------------------------------------------------------------------------------------


def choose_cases(options):
    cases = list(shapes.tiny()) if options.tiny else shapes.all_cases(options.seed, options.drawn)
    kinds = options.kinds.split(",") if options.kinds else shapes.KINDS
    unknown = [kind for kind in kinds if kind not in shapes.KINDS]
    if unknown:
        sys.exit(f"error: unknown kinds: {', '.join(unknown)}; known: {', '.join(shapes.KINDS)}")
    cases = [case for case in cases if case.kind in kinds and (not options.only or options.only in case.name)]
    # The kinds alternate, so that none is left out when time runs short.
    groups = [[case for case in cases if case.kind == kind] for kind in kinds]
    ordered = [case for some in itertools.zip_longest(*groups) for case in some if case]
    index, _, count = options.shard.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        sys.exit(f"error: --shard={options.shard}: expected I/N, with I from 1 to N")
    return ordered[int(index) - 1::int(count)]


def print_row(row):
    if "ours" in row:
        text = (f"{row['ours']['settled']:.4f} ms, ratio {report.number(row.get('ratio'))}, cold {row['ours']['cold']:.4f} "
                f"ms, ratio {report.number(row.get('cold_ratio'))}{', WRONG' if row['wrong'] else ''}")
    else:
        text = f"failed: {row['failed']}" if "failed" in row else f"compiled in {row.get('compile_s', 0):.2f} s"
    print(f"{row['name']}: {text}", file=sys.stderr, flush=True)


def print_programs(cases):
    print("\n// -----\n\n".join(f"// {case.kind}: {case.name}\n{case.program}" for case in cases), end="")


def run_in_cache(run, options, cases):
    """Calls `run` with the folder of programs that the options name, or one for this call."""
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.abspath(options.cache or folder)
        os.makedirs(cache, exist_ok=True)
        try:
            return run(options, cases, cache)
        except Unusable as error:
            sys.exit(f"error: {error}")


def run(options, cases, cache):
    """Compiles and measures. The results are also written from time to time."""
    start = time.monotonic()
    until = start + options.budget if options.budget else math.inf
    on_cuda = options.target.partition(":")[0] == "cuda"
    settings = Options(options.target, cache, loads=not options.compile_only and not is_host(options.target),
                       flags=["ptxas"] if options.ptxas else [], windows=options.windows, runs=options.runs,
                       graphs=options.launch == "graph")
    results = {"date": datetime.date.today().isoformat(), "system": f"{platform.system()} {platform.machine()}",
               "target": options.target, "device": options.target, "driver": "", "library": "not measured",
               "command": shlex.join(["benchmarks/cliffs.py", *sys.argv[1:]]), "seed": options.seed, "windows": options.windows,
               "runs": options.runs, "graphs": settings.graphs and not is_host(options.target),
               "clocks": {}, "seconds": {}, "rows": []}
    rows = {case.name: make_row(case, {"skipped": "no time was left"}) for case in cases}

    def finish(case, more):
        rows[case.name] = make_row(case, {**rows[case.name].get("kept", {}), **more})
        print_row(rows[case.name])

    bundles = {}
    for case, made in Pool(Compiler, settings, options.jobs, options.compile_limit).run(cases, until):
        if "failed" in made:
            finish(case, {"failed": f"compiling: {made['failed']}"})
        else:
            bundles[case.name] = made.pop("bundle")
            rows[case.name]["kept"] = made
            if options.compile_only:
                finish(case, made)
    results["seconds"]["compile"] = round(time.monotonic() - start, 1)
    print(f"{len(bundles)} of {len(cases)} programs in {results['seconds']['compile']} s", file=sys.stderr, flush=True)

    def save():
        results["rows"] = [{key: value for key, value in rows[case.name].items() if key != "kept"} for case in cases]
        results["seconds"]["measure"] = round(time.monotonic() - start - results["seconds"]["compile"], 1)
        if options.output:
            write(results, options.output)

    if not options.compile_only:
        if on_cuda:
            results["driver"] = f"driver {bench.query_gpu('driver_version')}"
            results["clocks"]["before"] = bench.clocks()
        pool, last = Pool(Measurer, settings, 1, options.limit), time.monotonic()
        tasks = [(case, bundles[case.name]) for case in cases if case.name in bundles]
        try:
            for (case, _), more in pool.run(tasks, until):
                finish(case, more)
                results.update({key: pool.about[key] for key in ("device", "library")})
                if time.monotonic() - last > 20:
                    save()
                    last = time.monotonic()
        finally:
            if on_cuda:
                results["clocks"]["after"] = bench.clocks()
            save()
    save()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cuda", help="of tessera.compile: cuda, hip or cpu")
    parser.add_argument("--seed", type=int, default=1, help="of the drawn shapes")
    parser.add_argument("--drawn", type=int, default=50, help="how many shapes are drawn")
    parser.add_argument("--kinds", help=f"of {', '.join(shapes.KINDS)}")
    parser.add_argument("--only", help="only shapes whose name contains this text")
    parser.add_argument("--tiny", action="store_true", help="a few small shapes instead, for tests")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="each N-th shape, from the I-th on")
    parser.add_argument("--list", action="store_true", help="print the names of the shapes, and end")
    parser.add_argument("--print", action="store_true", help="print the programs of the shapes, and end")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile")
    parser.add_argument("--compile-only", action="store_true", help="no device is needed if the target has a chip")
    parser.add_argument("--ptxas", action="store_true", help="assemble programs ahead of time, not in the driver")
    parser.add_argument("--cache", metavar="DIR", help="where programs are kept; otherwise nowhere")
    parser.add_argument("--launch", choices=("graph", "calls"), default="graph",
                        help="how the settled time is measured on a GPU")
    parser.add_argument("--budget", type=float, help="seconds for everything; the rest is not measured")
    parser.add_argument("--windows", type=int, default=5, help="of settled runs")
    parser.add_argument("--runs", type=int, default=15, help="with cold caches")
    parser.add_argument("--limit", type=float, default=30, help="seconds for the measurement of a shape")
    parser.add_argument("--compile-limit", type=float, default=60, help="seconds for the compilation of a shape")
    parser.add_argument("--merge", nargs="+", metavar="JSON", help="measure nothing: join results")
    parser.add_argument("--output", help="without a suffix; otherwise the table is printed")
    options = parser.parse_args()

    if options.merge:
        results = merge(options.merge)
        if options.output:
            write(results, options.output)
    else:
        cases = choose_cases(options)
        if options.list:
            print("\n".join(f"{case.kind}: {case.name}" for case in cases))
            return 0
        if options.print:
            print_programs(cases)
            return 0
        if not cases:
            sys.exit("error: no shape is left")
        results = run_in_cache(run, options, cases)
    if not options.output:
        print(write_markdown(results))
    rows = results["rows"]
    bad = [row for row in rows if "failed" in row or row.get("wrong")]
    count, mean, least = summarize(rows, "ratio")
    if count:
        print(f"{count} ratios, geometric mean {mean:.3f}, least {least:.2f}; "
              f"{sum('skipped' in row for row in rows)} not measured", file=sys.stderr)
    if bad:
        print(f"error: {len(bad)} of {len(rows)} shapes failed or are wrong", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
