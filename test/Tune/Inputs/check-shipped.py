#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-shipped.py FOLDER: checks the shipped records, and prints a module with all of their schedules."""

import pathlib
import re
import sys

seen, schedules = set(), []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.tsv")):
    chip = path.name.split(".")[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 3 or not re.fullmatch("[0-9a-f]{16}", columns[0]) or not columns[2]:
            sys.exit(f"{path}:{number}: expected a key, a schedule and an origin, separated by tabs")
        if (chip, columns[0]) in seen:
            sys.exit(f"{path}:{number}: a second record of task {columns[0]}")
        seen.add((chip, columns[0]))
        if columns[1]:
            schedules.append(columns[1])
print("module attributes {" + ", ".join(f"shipped.s{i} = {s}" for i, s in enumerate(schedules)) + "} {}")
