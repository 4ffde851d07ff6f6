# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DB TEXT MESSAGE: whether all records of schedules with the text, and no others, were invalidated after they were measured."""
import sqlite3
import sys

database, text, message = sys.argv[1:]
rows = sqlite3.connect(database).execute("SELECT schedule, chosen, outcome, error, times, final FROM records").fetchall()
seen = 0
for schedule, chosen, outcome, error, times, final in rows:
    if text not in (schedule or chosen):
        assert message not in error, (schedule, error)
        continue
    # Nothing of them counts, whatever became of the others.
    assert outcome not in ("measured", "slow"), (schedule, outcome, final)
    if outcome == "wrong":
        assert message in error and times == "[]", (schedule, error, times)
        seen += final or error.startswith("invalidated: ")
assert seen >= 2, rows
print(seen, "of", len(rows), "records invalidated")
