#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""prefer-schedule.py FILE.jsonl TEXT: prints the exported records, those of the final comparison left out, with a time
of 1 us where the schedule contains TEXT."""

import json
import sys

for line in open(sys.argv[1]):
    entry = json.loads(line)
    if entry.get("kind") == "record" and entry["final"]:
        continue
    if entry.get("kind") == "record" and sys.argv[2] in entry["schedule"]:
        entry.update(outcome="measured", error="", times=[0.001], median=0.001, low=0.001, high=0.001)
    print(json.dumps(entry))
