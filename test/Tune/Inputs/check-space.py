# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JSON: whether what was removed and what is left make all combinations."""
import json
import sys

(task,) = json.load(open(sys.argv[1]))["tasks"]
total = sum(task["removed"].values()) + task["legal"]
assert abs(total / task["combinations"] - 1) < 1e-9, (total, task["combinations"])
assert task["tilings"] > 100 and 0 < task["promising_tilings"] <= task["tilings"], task
