# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU-TUNE: runs of three ranks on this machine."""
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

program = sys.argv[1]
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def command(database, trials, *options):
    launch = ["mpirun", "--oversubscribe", "--bind-to", "none", *options, "-n", "3", program, "run"]
    return launch + ["64x64x64:f32", "--target=cpu", f"--trials={trials}", "--leaders=2", "--measurers=1", "--jobs=1", "--timeout=600", "--db=" + database]


def read_records(database):
    try:
        return sqlite3.connect(database).execute("SELECT schedule, outcome FROM records WHERE NOT final").fetchall()
    except sqlite3.OperationalError:
        return []


def check(database, trials):
    records = read_records(database)
    assert len(records) == trials + 1 == len(set(records)), records
    assert all(outcome in ("measured", "slow") for _, outcome in records), records


def find_rank(rank):
    """The process of a rank of ours."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ") as file:
                environment = file.read().split("\0")
            with open(f"/proc/{name}/cmdline") as file:
                arguments = file.read().split("\0")
        except OSError:
            continue
        if f"OMPI_COMM_WORLD_RANK={rank}" in environment and "--db=killed.db" in arguments and os.getcwd() == os.readlink(f"/proc/{name}/cwd"):
            return int(name)
    return None


whole = subprocess.run(command("whole.db", 12), capture_output=True, text=True, timeout=1200)
assert whole.returncode == 0, whole
assert whole.stderr.count(") has joined: 1 compile worker") == 2, whole.stderr
# A device is measured on by one of them.
assert whole.stderr.count("is already used by another process of that machine") == 2, whole.stderr
check("whole.db", 12)

with open("killed.log", "w") as log:
    run = subprocess.Popen(command("killed.db", 60, "--enable-recovery"), stdout=log, stderr=log)
end = time.time() + 600
while len(read_records("killed.db")) < 3 or open("killed.log").read().count("has joined") < 2:
    assert time.time() < end and run.poll() is None, open("killed.log").read()
    time.sleep(0.05)
os.kill(find_rank(2), signal.SIGKILL)
assert run.wait(timeout=1200) == 0, open("killed.log").read()
text = open("killed.log").read()
assert re.search(r"disconnected \(its connection ended\): \d+ of its candidates (?:is|are) retried", text), text
check("killed.db", 60)

# The error of the first one is printed once, and no process waits for ever.
wrong = subprocess.run(["mpirun", "--oversubscribe", "-n", "3", program, "run", "8x8x8:f32"], capture_output=True, text=True, timeout=600)
assert wrong.returncode == 2 and wrong.stderr.count("error: --target is missing") == 1, wrong
print("three ranks: passed")
