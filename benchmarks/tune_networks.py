#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tunes networks, and compares them with the records and without.

    benchmarks/tune_networks.py *.onnx --target=cuda --budget=330 --output=tuned

Writes into the folder OUTPUT

    tuning.jsonl.xz   all records, for gpu-tune import
    records.tsv       those for lib/Driver/Tuned/TARGET-CHIP.networks.tsv: schedules that were faster
                      than the compiler's own choice by the factor --gain, and by more than the noise
    networks.md       the settled and the cold time of each network with these records, and with the
                      compiler's choices alone, in turns: the least of --rounds rounds each
    compare*.json     the output of gpu-runner
    check.jsonl       with --check: the settled time of each network with each set of records
    dropped.txt       with --check: the records that were dropped since no network is faster with them

--check measures each network without the records, with each of them alone, and with all that are left: the kernels
of a graph overlap, so the fastest kernel by itself may not be the fastest one in its network.

Databases of earlier runs (--with=FILE.jsonl.xz, several times) are merged with this one: their fastest
schedules are tried first. --budget=0 measures nothing, and selects from these. --leave-out=FILE has keys
of tasks, one on each line, whose records are not selected. Exit status 1 if a step fails.
"""

import argparse
import json
import lzma
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

VARIANTS = ("off", "records")


def fail(message):
    sys.exit(f"error: {message}")


def run(command, seconds=None, **options):
    """Runs a command to its end. After `seconds` it is interrupted, and may finish what it does."""
    process = subprocess.Popen(command, text=True, **options)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(2)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode


def tune(options, database):
    """A run of gpu-tune. Its exit status is 0, or 3 if it gave tasks up."""
    cores = len(os.sched_getaffinity(0))
    jobs = options.jobs or max(1, cores - options.measurers + 2)
    command = [os.path.join(options.bin, "gpu-tune"), "run", *options.models, f"--target={options.target}",
               "--candidates=guided", "--leaders=1", f"--budget={options.budget}s", f"--jobs={jobs}",
               f"--measurers={options.measurers}", "--timeout=10", f"--seed={options.seed}", f"--db={database}"]
    if options.tasks:
        command.append(f"--tasks={options.tasks}")
    if options.kinds:
        command.append(f"--kinds={options.kinds}")
    if options.untuned:
        command.append("--untuned")
    if options.trials:
        command.append(f"--trials={options.trials}")
    with open(os.path.join(options.output, "tune.log"), "w") as log, open(os.path.join(options.output, "tune.err"), "w") as err:
        status = run(command, options.budget + 15, stdout=log, stderr=err)
    lines = open(os.path.join(options.output, "tune.log")).read().splitlines()
    print(*[line for line in lines if re.match(r"\d+ candidates|geometric mean", line)], sep="\n", flush=True)
    if status not in (0, 3):
        fail(f"gpu-tune failed with status {status}: see {options.output}/tune.err")


def tune_tool(options, *arguments, **more):
    done = subprocess.run([os.path.join(options.bin, "gpu-tune"), *arguments], text=True, capture_output=True, **more)
    if done.returncode:
        fail(f"gpu-tune {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def write_selected(exported, keys, path, left=(), numbered=False):
    """The final records of tasks with these keys, as lines of JSON. Tasks of `left` keep the compiler's own choice.
    `numbered`: the times of a record are the number of its key, which --explain prints."""
    numbers = {key: number for number, key in enumerate(sorted(keys), 1)}
    with open(path, "w") as file:
        for line in exported.splitlines():
            entry = json.loads(line)
            kind = entry.get("kind")
            if kind == "record" and entry["task"] in keys and entry["final"]:
                if (numbered and not entry["schedule"]) or (entry["task"] in left and entry["schedule"]):
                    continue
                if numbered:
                    entry.update({name: 0 for name in entry if name.startswith("warm_")})
                    entry.update(median=numbers[entry["task"]], low=numbers[entry["task"]], high=numbers[entry["task"]])
                    line = json.dumps(entry)
                file.write(line + "\n")
            elif kind in (None, "run") or (kind == "task" and entry["key"] in keys):
                file.write(line + "\n")


def find_useless(networks, measure, noise=0.003, is_late=lambda: False):
    """The keys of records that, alone, make no network faster, or one slower. `networks` has the keys that each uses;
    `measure` takes pairs of a network and the keys that are left out, and returns a time for each, or None. Networks
    that gain least from all of their records come first. When it is late, the records of the others are judged
    together."""
    every = {network: frozenset(keys) for network, keys in networks.items() if keys}
    times = measure([(network, left) for network, keys in every.items() for left in (keys, frozenset())])
    ratios = {network: after / before if before and after else math.inf
              for network, before, after in zip(every, times[0::2], times[1::2])}
    without = dict(zip(every, times[0::2]))
    alone = {}
    for network in sorted(every, key=lambda name: (-ratios[name], name)):
        if is_late():
            break
        if not without[network]:
            continue
        keys = sorted(every[network])
        again, *ofs = measure([(network, every[network])] + [(network, every[network] - {key}) for key in keys])
        # The network is measured twice without records, which shows the noise.
        least = min(took or math.inf for took in (without[network], again))
        for key, took in zip(keys, ofs):
            alone.setdefault(key, []).append(took / least if took else math.inf)
    useless = set()
    for key in set().union(*every.values()):
        ofs = alone.get(key) or [ratios[network] for network, keys in every.items() if key in keys]
        if max(ofs) > 1 + noise or min(ofs) >= 1 - noise:
            useless.add(key)
    return useless


def find_slower(networks, measure, noise=0.005, is_late=lambda: False):
    """The keys of records without which networks are faster together. Arguments as above. When it is late, all
    records of a slower network are left out."""
    dropped, checked = set(), []
    for network, keys in networks.items():
        none, every = measure([(network, frozenset(keys)), (network, frozenset())])
        if none and every and every > none * (1 + noise):
            checked.append((network, none))
    for network, none in checked:
        keys = networks[network]
        if is_late():
            dropped |= keys
            continue
        best, = measure([(network, frozenset(dropped & keys))])
        while best and best > none * (1 + noise) and keys - dropped:
            left = sorted(keys - dropped)
            times = measure([(network, frozenset((dropped & keys) | {key})) for key in left])
            least, key = min((took or math.inf, key) for took, key in zip(times, left))
            # The last one is the compiler's choice for all.
            if least > best * (1 - noise / 2):
                break
            dropped.add(key)
            best = least
    return dropped


def check_networks(options, exported, keys, folder):
    """find_useless and find_slower with gpu-runner."""
    runner = os.path.join(options.bin, "gpu-runner")
    environment = {**os.environ, "TESSERA_CACHE_DIR": os.path.join(folder, "cache")}
    databases = {}

    def make(left, numbered=False):
        if (left, numbered) not in databases:
            path = os.path.join(folder, f"left{len(databases)}.db")
            write_selected(exported, keys, path + ".jsonl", left, numbered)
            tune_tool(options, "import", f"--db={path}", path + ".jsonl")
            databases[left, numbered] = path
        return databases[left, numbered]

    def list_keys(model):
        done = subprocess.run([runner, model, f"--target={options.target}", "--emit=schedule", "--explain", "--cache=off",
                               f"--schedule-db={make(frozenset(), True)}"], text=True, capture_output=True, check=False)
        numbers = {int(number) for number in re.findall(r"tuned \((\d+) ms", done.stdout + done.stderr)}
        return {key for number, key in enumerate(sorted(keys), 1) if number in numbers}

    def measure(variants):
        lines = [[model, f"--target={options.target}", "--arg=random", f"--schedule-db={make(left)}"]
                 for model, left in variants]
        order = random.Random(len(lines)).sample(range(len(lines)), len(lines))
        with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) * 3 // 4)) as pool:
            list(pool.map(lambda line: subprocess.run([runner, *line, "--repeat=1"], env=environment,
                                                      capture_output=True, check=False), lines))
        with open(os.path.join(folder, "batch"), "w") as file:
            file.writelines(" ".join([*lines[at], f"--bench={options.check_runs}", "--json"]) + "\n" for at in order)
        done = subprocess.run([runner, f"--batch={file.name}"], env=environment, text=True, capture_output=True, check=False)
        times = [None] * len(lines)
        parts = re.split(r"=== line (\d+): exit status \d+\n?", done.stdout)
        for text, which in zip(parts[0::2], parts[1::2]):
            try:
                times[order[int(which) - 1]] = json.loads(text)["bench"]["settled"]["ms"]
            except (ValueError, KeyError):
                continue
        for (model, left), took in zip(variants, times):
            log.write(json.dumps({"network": model, "records": sorted(uses[model] - left), "ms": took}) + "\n")
        log.flush()
        return times

    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) * 3 // 4)) as pool:
        make(frozenset(), True)
        uses = dict(zip(options.models, pool.map(list_keys, options.models)))
    end = time.monotonic() + options.check_seconds if options.check_seconds else math.inf

    def is_late():
        return time.monotonic() > end

    with open(os.path.join(options.output, "check.jsonl"), "w") as log:
        dropped = find_useless(uses, measure, is_late=is_late)
        # Nor those of tasks that no network has.
        dropped |= keys - set().union(*uses.values())
        left = {model: used - dropped for model, used in uses.items()}
        return dropped | find_slower(left, measure, is_late=is_late)


def list_runs(options, database, extra, variants=VARIANTS):
    for model in sorted(options.models, key=os.path.getsize):
        for variant in variants:
            yield [model, f"--target={options.target}", "--arg=random", *extra,
                   f"--schedule-db={database if variant == 'records' else 'off'}"]


def compare(options, database, folder):
    """The least settled and cold times in microseconds by network and variant."""
    runner = os.path.join(options.bin, "gpu-runner")
    environment = {**os.environ, "TESSERA_CACHE_DIR": os.path.join(folder, "cache")}
    # Compiles all of them at the same time.
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) * 3 // 4)) as pool:
        list(pool.map(lambda line: subprocess.run([runner, *line], env=environment, capture_output=True, check=False),
                      list_runs(options, database, ["--repeat=1"])))
    batch = os.path.join(folder, "batch")
    end = time.monotonic() + options.seconds
    best = {}
    for number in range(options.rounds):
        start = time.monotonic()
        if number and end - start < took:
            break
        # A network's time depends on its position in the process: the variants take turns in being the first.
        variants = VARIANTS if number % 2 == 0 else VARIANTS[::-1]
        lines = list(list_runs(options, database, ["--bench=20", "--json"], variants))
        with open(batch, "w") as file:
            file.writelines(" ".join(line) + "\n" for line in lines)
        path = os.path.join(options.output, f"compare{number}.json")
        with open(path, "w") as out, open(path[:-5] + ".err", "w") as err:
            run([runner, f"--batch={batch}"], max(1, end - start), env=environment, stdout=out, stderr=err)
        took = time.monotonic() - start
        parts = re.split(r"=== line (\d+): exit status \d+\n?", open(path).read())
        for text, which in zip(parts[0::2], parts[1::2]):
            try:
                bench = json.loads(text)["bench"]
                times = bench["settled"]["ms"] * 1000, bench["median_ms"] * 1000
            except (ValueError, KeyError):
                continue
            line = lines[int(which) - 1]
            key = os.path.basename(line[0])[:-5], "off" if "--schedule-db=off" in line else "records"
            best[key] = tuple(map(min, times, best.get(key, times)))
    return best


def tabulate(options, best):
    rows = ["| network | settled us | with records | ratio | cold us | with records | ratio |",
            "|---|---|---|---|---|---|---|"]
    ratios = [[], []]
    for model in sorted(options.models):
        name = os.path.basename(model)[:-5]
        times = [best.get((name, variant)) for variant in VARIANTS]
        if None in times:
            rows.append(f"| {name} | failed | | | | | |")
            continue
        cells = []
        for i in (0, 1):
            ratios[i].append(times[0][i] / times[1][i])
            cells += [f"{times[0][i]:.1f}", f"{times[1][i]:.1f}", f"{ratios[i][-1]:.3f}"]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    if ratios[0]:
        means = [math.exp(sum(map(math.log, r)) / len(r)) for r in ratios]
        rows.append(f"| geometric mean of {len(ratios[0])} | | | {means[0]:.3f} | | | {means[1]:.3f} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--budget", type=int, default=600, help="seconds of gpu-tune (600)")
    parser.add_argument("--trials", type=int, help="candidates of each task, at most")
    parser.add_argument("--tasks", type=int, help="only the tasks with the largest part of the time")
    parser.add_argument("--untuned", action="store_true", help="only tasks of which the databases of --with have no candidate")
    parser.add_argument("--kinds", help="only tasks of these kinds: matmul, attention, window")
    parser.add_argument("--measurers", type=int, default=5, help="processes that load and measure (5)")
    parser.add_argument("--jobs", type=int, help="processes that compile (default: the cores that measurers leave)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gain", type=float, default=1.03, help="the least gain of a record (1.03)")
    parser.add_argument("--source", default="docs/benchmarks/h200-network-tuning.md", help="what the records name as their origin")
    parser.add_argument("--with", dest="earlier", action="append", default=[], metavar="FILE")
    parser.add_argument("--leave-out", metavar="FILE")
    parser.add_argument("--check", action="store_true", help="keeps only records with which whole networks are faster")
    parser.add_argument("--check-runs", type=int, default=400, help="runs of each measurement of a network (400)")
    parser.add_argument("--check-seconds", type=int, help="after so many seconds, records are judged together")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the comparison (3); 0: there is none")
    parser.add_argument("--seconds", type=int, default=300, help="seconds of the rounds at most (300)")
    parser.add_argument("--bin", default="build/dev/bin", help="the folder of gpu-tune and gpu-runner (build/dev/bin)")
    parser.add_argument("--output", default="tuned")
    options = parser.parse_args()
    for file in [*options.models, *options.earlier]:
        if not os.path.exists(file):
            fail(f"{file} does not exist")
    if not options.budget and not options.earlier:
        fail("--budget=0 requires --with=FILE, from which records are selected")
    os.makedirs(options.output, exist_ok=True)

    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "tuning.db")
        for i, path in enumerate(options.earlier):
            plain = os.path.join(folder, f"{i}.jsonl")
            with lzma.open(path, "rt") if path.endswith(".xz") else open(path) as file, open(plain, "w") as out:
                out.write(file.read())
            tune_tool(options, "import", f"--db={database}", plain)
        if options.budget:
            tune(options, database)
        exported = tune_tool(options, "export", f"--db={database}")
        with lzma.open(os.path.join(options.output, "tuning.jsonl.xz"), "wt") as file:
            file.write(exported)
        records = tune_tool(options, "best", f"--db={database}", "--tsv", f"--gain={options.gain}", f"--source={options.source}")
        if options.leave_out:
            left = set(open(options.leave_out).read().split())
            records = "".join(line for line in records.splitlines(True) if line.split("\t")[0] not in left)
        with open(os.path.join(options.output, "records.tsv"), "w") as file:
            file.write(records)
        keys = {line.split("\t")[0] for line in records.splitlines() if not line.startswith("#")}
        print(f"{len(keys)} records", flush=True)
        if options.check:
            dropped = check_networks(options, exported, keys, folder)
            keys -= dropped
            records = "".join(line for line in records.splitlines(True) if line.split("\t")[0] not in dropped)
            with open(os.path.join(options.output, "records.tsv"), "w") as file:
                file.write(records)
            with open(os.path.join(options.output, "dropped.txt"), "w") as file:
                file.writelines(key + "\n" for key in sorted(dropped))
            print(f"{len(dropped)} of them dropped, with which no network is faster", flush=True)
        if not options.rounds:
            return
        selected = os.path.join(folder, "selected.db")
        write_selected(exported, keys, selected + ".jsonl")
        tune_tool(options, "import", f"--db={selected}", selected + ".jsonl")
        table = tabulate(options, compare(options, selected, folder))
        with open(os.path.join(options.output, "networks.md"), "w") as file:
            file.write(table)
        print(table, end="")


if __name__ == "__main__":
    main()
