# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU-TUNE: whether a candidate that hangs is recorded as that, and not chosen.

On a busy machine others do not end in time either: then all of it again, with a larger limit.
"""
import os
import sqlite3
import subprocess
import sys

program = sys.argv[1]
planted = "workgroup = [8, 32], subgroup = [8, 32], k = 16, kFragment = 4,"
with open("hang.json", "w") as file:
    file.write('{"version": 1, "parameters": {"workgroup": [[8, 32], [16, 32]], "subgroup": [[8, 32]], "k": [16],'
               ' "kFragment": [1, 4], "stages": [0], "splitK": [1], "raster": [0], "stageOutput": [false]}}')
for timeout in (8, 80, 800):
    if os.path.exists("hang.db"):
        os.remove("hang.db")
    run = subprocess.run([program, "64x64x64:f32", "--target=cpu", "--trials=10", "--jobs=1", f"--timeout={timeout}",
                          "--db=hang.db", "--config=hang.json", "--test-fault=hang:" + planted],
                         capture_output=True, text=True)
    rows = sqlite3.connect("hang.db").execute("SELECT schedule, outcome, error, final FROM records").fetchall()
    hung = [row for row in rows if planted in row[0]]
    assert len(hung) <= 1 and all(row[1] == "hung" and f"did not end within {timeout}" in row[2] for row in hung), hung
    others = [row for row in rows if planted not in row[0]]
    assert all(outcome in ("measured", "slow", "hung") for _, outcome, *_ in others), others
    if hung and all(outcome != "hung" for _, outcome, *_ in others):
        break
else:
    sys.exit(f"it hangs without a fault: {rows}")
assert run.returncode == 0 and len(others) >= 4, (run, rows)
assert f"note: 64x64x64 f32 x f32 -> f32, {hung[0][0]}: it did not end within {timeout}" in run.stderr, run.stderr
winner = next(line for line in run.stdout.splitlines() if ", by " in line)
assert planted not in winner, winner
print("hung:", hung[0][2])
