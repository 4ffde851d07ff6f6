# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets the schedules that --emit=schedule printed.

    paste-schedules.py by-hand|by-script SCHEDULE SOURCE

Reads the comments at the head of SCHEDULE, and writes SOURCE with each schedule on the op at the
position that its comment names, or with a transform script that sets them.
"""

import re
import sys

how, schedule, source = sys.argv[1:]
with open(source) as file:
    lines = file.read().splitlines()
with open(schedule) as file:
    comments = re.findall(r"^// main, .*:(\d+):(\d+): tessera.schedule = (.*)$", file.read(), flags=re.M)
if not comments:
    sys.exit(f"{schedule} names no schedule")

script = []
for i, (line, column, attribute) in enumerate(comments):
    text = lines[int(line) - 1]
    op = re.compile(r"linalg\.\w+").search(text, int(column) - 1)
    if not op:
        sys.exit(f"{source}:{line}:{column}: no linalg op there")
    if how == "by-hand":
        attributes = f" {{tessera.schedule = {attribute}}}"
        lines[int(line) - 1] = text[: op.end()] + attributes + text[op.end() :]
    else:
        script += [
            f'  %{i} = transform.structured.match ops{{["{op[0]}"]}} in %program : (!transform.any_op) -> !transform.any_op',
            f"  transform.tessera.set_schedule {attribute} on %{i} : !transform.any_op",
        ]
if how == "by-hand":
    print("\n".join(lines))
else:
    sequence = "transform.named_sequence @__transform_main(%program: !transform.any_op {transform.readonly}) {"
    print("module attributes {transform.with_named_sequence} {", *lines, sequence, *script, sep="\n")
    print("  transform.yield\n}\n}")
