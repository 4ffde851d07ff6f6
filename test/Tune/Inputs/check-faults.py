# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DB LOG: whether each planted fault was recorded as what it is, and none was chosen."""
import sqlite3
import sys

database, log = sys.argv[1:]
rows = sqlite3.connect(database).execute("SELECT schedule, outcome, error, final FROM records").fetchall()
expected = {
    "k = 32,": ("crashed", "signal 6"),
    "k = 8,": ("wrong", "1 of 4096 elements of output 0 are wrong"),
    "k = 4,": ("not run", "1048576"),
    "k = 2,": ("wrong", "after the timed runs: 1 of 4096 elements of output 0 are wrong"),
}
seen = dict.fromkeys(expected, 0)
for schedule, outcome, error, final in rows:
    for text, (kind, message) in expected.items():
        if text in schedule:
            assert (outcome, final) == (kind, 0) and message in error, (schedule, outcome, error)
            seen[text] += 1
            break
    else:
        assert outcome in ("measured", "slow"), (schedule, outcome, error)
assert all(seen.values()), seen
finals = [row for row in rows if row[3]]
assert len(finals) >= 2, finals
winner = next(line for line in open(log) if ", by " in line)
assert not any(text in winner for text in expected), winner
print(len(rows), "records", seen)
