#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the cost of a run of gpu-tune for its own host, with a fleet of simulated hosts.

    benchmarks/fleet.py shapes.txt --target=cuda:sm_90a --records=export.jsonl --hosts=10,100,1000

Starts `gpu-tune run --listen`, which neither compiles nor measures, and fleet-benchmark, whose hosts
answer from the records of `gpu-tune export` (fleet.cpp). From when all hosts have joined until --seconds
later, it reads the processor time of the run's process, and how many records are in the database.
Prints a line for each number of hosts, and with --output writes them as JSON.

    rate      records that were added to the database per second
    asked     the rate of a run that costs nothing: one record of each host per --measure-ms
    CPU       ms of processor time of the run's process per record, and how much of a core it used
    join      seconds until all hosts had joined
    memory    the largest resident memory of the run's process
"""

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


def get_processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def get_memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM"))


def count_records(path):
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)
        return connection.execute("SELECT count(*) FROM records").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def count_joined(log):
    with open(log) as file:
        return file.read().count(" has joined: ")


def simulate(options, hosts, folder):
    join_file, database, log = (os.path.join(folder, f"{hosts}{end}") for end in (".join", ".db", ".log"))
    environment = {**os.environ, "TMPDIR": folder}
    with open(log, "w") as file:
        run = subprocess.Popen([options.gpu_tune, "run", *options.work, f"--target={options.target}", "--jobs=0",
                                "--devices=none", "--listen=127.0.0.1", f"--join-file={join_file}", f"--db={database}",
                                "--budget=1h", "--timeout=600", *(["--trials=" + options.trials] if options.trials else [])],
                               stdout=file, stderr=subprocess.STDOUT, env=environment)
    fleet = None
    try:
        end = time.time() + 120
        while not os.path.exists(join_file):
            if run.poll() is not None or time.time() > end:
                sys.exit(f"gpu-tune does not listen:\n{open(log).read()}")
            time.sleep(0.1)
        begin = time.time()
        fleet = subprocess.Popen([options.fleet, f"--join-file={join_file}", f"--records={options.records}",
                                  f"--hosts={hosts}", f"--measure-ms={options.measure_ms}",
                                  f"--compile-ms={options.compile_ms}", f"--measurers={options.measurers}",
                                  f"--bundle-bytes={options.bundle_bytes}"], stdout=subprocess.PIPE, text=True)
        while count_joined(log) < hosts:
            if fleet.poll() is not None or run.poll() is not None:
                sys.exit(f"a process ended early; the run printed:\n{open(log).read()[-2000:]}")
            time.sleep(0.1)
        joined = time.time() - begin
        time.sleep(options.settle)
        first, spent, start = count_records(database), get_processor_seconds(run.pid), time.time()
        time.sleep(options.seconds)
        if run.poll() is not None or fleet.poll() is not None:
            sys.exit(f"a process ended early; the run printed:\n{open(log).read()[-2000:]}")
        records = count_records(database) - first
        spent, elapsed = get_processor_seconds(run.pid) - spent, time.time() - start
        memory = get_memory(run.pid)
    finally:
        # The run is not resumed: its database goes away.
        for process in filter(None, (run, fleet)):
            process.kill()
            process.wait()
    return {"hosts": hosts, "join_s": joined, "records": records, "seconds": elapsed, "rate": records / elapsed,
            "asked": hosts * 1e3 / options.measure_ms, "cpu_ms": 1e3 * spent / max(records, 1),
            "cores": spent / elapsed, "memory_MB": memory}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="+", help="as for gpu-tune run")
    parser.add_argument("--target", required=True, help="with its chip")
    parser.add_argument("--records", required=True, help="what gpu-tune export wrote")
    parser.add_argument("--hosts", default="10,100,1000")
    parser.add_argument("--measurers", type=int, default=2)
    parser.add_argument("--measure-ms", type=int, default=1000)
    parser.add_argument("--compile-ms", type=int, default=1000)
    parser.add_argument("--bundle-bytes", type=int, default=40000)
    parser.add_argument("--trials", help="of each task")
    parser.add_argument("--settle", type=float, default=5, help="seconds after all hosts have joined")
    parser.add_argument("--seconds", type=float, default=20, help="of the measurement")
    parser.add_argument("--gpu-tune", default="gpu-tune")
    parser.add_argument("--fleet", default="fleet-benchmark")
    parser.add_argument("--folder", help="for the databases, by default a temporary one")
    parser.add_argument("--output", help="a file for the results as JSON")
    options = parser.parse_args()

    # Each host has a connection for itself and one for each of its workers.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    results = []
    print("hosts  rate/s  asked/s  CPU ms  cores  join s  memory MB")
    for hosts in map(int, options.hosts.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            row = simulate(options, hosts, folder)
        results.append(row)
        print(f"{hosts:5} {row['rate']:7.1f} {row['asked']:8.1f} {row['cpu_ms']:7.2f} {row['cores']:6.2f} "
              f"{row['join_s']:7.1f} {row['memory_MB']:10.0f}", flush=True)
    if options.output:
        with open(options.output, "w") as file:
            json.dump({"options": vars(options), "results": results}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
