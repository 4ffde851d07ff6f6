# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every example in a dialect's generated page through gpu-opt, and back.

    op-examples.py GPU-OPT PAGE.md DIALECT

Prints the examples, each under its op's name. Fails if gpu-opt rejects one, and if an op has
none.
"""

import re
import subprocess
import sys

gpu_opt, page, dialect = sys.argv[1:]
with open(page) as file:
    text = file.read()

# The page's sections: one for each op, attribute and type.
sections = re.split(r"^### ", text, flags=re.M)[1:]
failed = 0
ops = 0
for section in sections:
    title = re.match(rf"`{dialect}\.(\w+)` \(\S*Op\)$", section.splitlines()[0])
    if not title:
        continue
    ops += 1
    name = f"{dialect}.{title[1]}"
    examples = re.findall(r"^```mlir\n(.*?)^```$", section, flags=re.M | re.S)
    if not any(name in example for example in examples):
        print(f"{name}: no example shows it", file=sys.stderr)
        failed += 1
    for example in examples:
        source = example
        for step in ("the example", "what it prints"):
            run = subprocess.run([gpu_opt, "-"], input=source, capture_output=True, text=True)
            if run.returncode:
                print(f"{name}: gpu-opt rejects {step}:\n{run.stderr}{source}", file=sys.stderr)
                failed += 1
                break
            source = run.stdout
        else:
            print(f"// {name}\n{source}")
if not ops:
    print(f"{page} describes no op of {dialect}", file=sys.stderr)
sys.exit(1 if failed or not ops else 0)
