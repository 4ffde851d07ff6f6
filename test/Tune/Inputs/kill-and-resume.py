# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU-TUNE: kills a run with kill -9 once it has measured something, and has the next one go on."""
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

program = sys.argv[1]
database = "killed.db"
for name in (database, database + "-journal"):
    if os.path.exists(name):
        os.remove(name)


def command(trials):
    return [program, "96x96x96:f32", "--target=cpu", f"--trials={trials}", "--jobs=1", "--timeout=600", "--db=" + database]


def count():
    try:
        with sqlite3.connect("file:" + database + "?mode=ro", uri=True, timeout=600) as connection:
            return connection.execute("SELECT count(*) FROM records").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def workers_of(parent):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == parent:
                    found.append(int(name))
        except OSError:
            continue
    return found


def is_running(pid):
    """One that has ended may be listed until its parent asks for its status."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition, what):
    """The limit bounds a hang alone."""
    end = time.time() + 600
    while not condition():
        assert time.time() < end, what
        time.sleep(0.05)


# It does not come to its end before it is killed, however late that is.
run = subprocess.Popen(command(100000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wait_for(lambda: run.poll() is not None or count() >= 8, "nothing was measured")
assert run.poll() is None, "it ended too early"
workers = workers_of(run.pid)
assert workers, "it measures without a process for that"
run.send_signal(signal.SIGKILL)
run.wait()
before = count()
assert before >= 8, before
# Its workers end with it.
wait_for(lambda: not any(map(is_running, workers)), "its workers go on")
before = count()
trials = before + 10
again = subprocess.run(command(trials), capture_output=True, text=True, timeout=1800)
assert again.returncode == 0, again.stderr
resumed = re.search(r"resumed: (\d+) records", again.stderr)
assert resumed and before - 1 <= int(resumed[1]) <= before, (before, again.stderr)
made = re.search(r"^(\d+) candidates", again.stdout, re.M)
assert int(made[1]) <= trials + 1 - int(resumed[1]) + 6, again.stdout
assert "given up" not in again.stdout and re.search(r"[0-9.]+ ms \(", again.stdout), again.stdout
print("killed after", before, "records,", made[1], "candidates more")
