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
command = [program, "96x96x96:f32", "--target=cpu", "--trials=40", "--jobs=1", "--db=" + database]


def count():
    try:
        with sqlite3.connect("file:" + database + "?mode=ro", uri=True, timeout=30) as connection:
            return connection.execute("SELECT count(*) FROM records").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
end = time.time() + 60
while count() < 8:
    assert run.poll() is None, "it ended too early"
    assert time.time() < end, "nothing was measured in a minute"
    time.sleep(0.05)
run.send_signal(signal.SIGKILL)
run.wait()
before = count()
assert before >= 8, before
# Its workers end with it.
time.sleep(1)
again = subprocess.run(command, capture_output=True, text=True, timeout=120)
assert again.returncode == 0, again.stderr
resumed = re.search(r"resumed: (\d+) records", again.stderr)
assert resumed and before - 1 <= int(resumed[1]) <= before, (before, again.stderr)
made = re.search(r"^(\d+) candidates", again.stdout, re.M)
assert int(made[1]) <= 41 - int(resumed[1]) + 6, again.stdout
assert "given up" not in again.stdout and re.search(r"0\.\d+ ms \(", again.stdout), again.stdout
print("killed after", before, "records,", made[1], "candidates more")
