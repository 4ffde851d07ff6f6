# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU-TUNE: whether a run ends with its budget, and soon after an interrupt, whatever its workers do.

A candidate that hangs would keep the runs below busy for an hour, and the final comparisons of the last one take longer
than the seconds after an interrupt.
"""
import os
import signal
import sqlite3
import subprocess
import sys
import time

program = sys.argv[1]
planted = "workgroup = [8, 32], subgroup = [8, 32], k = 16, kFragment = 4,"
with open("end.json", "w") as file:
    file.write('{"version": 1, "parameters": {"workgroup": [[8, 32], [16, 32]], "subgroup": [[8, 32]], "k": [16],'
               ' "kFragment": [1, 4], "stages": [0], "splitK": [1], "raster": [0], "stageOutput": [false]}}')
hanging = ["64x64x64:f32", "--config=end.json", "--test-fault=hang:" + planted]
# A busy machine takes longer to notice the end; the limit bounds a hang alone.
limit = 300
note = "note: the run ended before a worker for cpu:0 could measure 64x64x64 f32 x f32 -> f32, #tessera.schedule<" + planted


def start(database, *words):
    if os.path.exists(database):
        os.remove(database)
    return subprocess.Popen([program, *words, "--target=cpu", "--jobs=1", "--timeout=3600", "--db=" + database],
                            stdout=subprocess.PIPE, stderr=open(database + ".err", "w"), text=True)


def finish(run, database):
    """The seconds that it took, its exit status, and what it printed."""
    begin = time.time()
    try:
        out, _ = run.communicate(timeout=limit)
    finally:
        run.kill()
    seconds = time.time() - begin
    with open(database + ".err") as file:
        messages = file.read()
    return seconds, run.returncode, out, messages


def count(database, condition="1"):
    try:
        with sqlite3.connect("file:" + database + "?mode=ro", uri=True, timeout=600) as connection:
            return connection.execute("SELECT count(*) FROM records WHERE " + condition).fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def interrupt(run, database, records, wait=1):
    end = time.time() + 600
    while count(database) < records:
        assert run.poll() is None and time.time() < end, count(database)
        time.sleep(0.05)
    # The last one may still have to be compiled.
    time.sleep(wait)
    run.send_signal(signal.SIGINT)


# The budget ends while a candidate hangs. A busy machine may not have measured any before.
for budget in (6, 60, 240):
    seconds, status, out, messages = finish(start("budget.db", *hanging, f"--budget={budget}s"), "budget.db")
    if status == 0 and note in messages and count("budget.db", "outcome = 'measured'") >= 1:
        break
else:
    sys.exit(f"no run ended while a candidate hung: exit status {status}, {out}, {messages}")
print(f"budget of {budget} s: {seconds:.1f} s")

# The interrupt comes while a candidate hangs, and all others are measured.
for wait in (1, 15, 120):
    run = start("hang.db", *hanging, "--trials=10")
    interrupt(run, "hang.db", 4, wait)
    seconds, status, out, messages = finish(run, "hang.db")
    assert status == 0 and count("hang.db") >= 4, (status, out, messages)
    if note in messages:
        break
else:
    sys.exit(f"no interrupt came while a candidate hung: {out}, {messages}")
assert "in the search, by" in out, (out, messages)
print(f"hang: {seconds:.1f} s after the interrupt")

# The leaders of many tasks are not all compared after an interrupt.
shapes = [f"{8 * i}x64x64:f32" for i in range(1, 31)]
run = start("many.db", *shapes, "--config=end.json", "--trials=100", "--share=equal")
interrupt(run, "many.db", 33)
seconds, status, out, messages = finish(run, "many.db")
assert status == 0, (status, out, messages)
assert "note: the interrupt left no time to compare the leaders of" in messages, messages
assert "there was no final comparison" in out, out
print(f"many: {seconds:.1f} s after the interrupt, {count('many.db', 'final = 1')} final records")
