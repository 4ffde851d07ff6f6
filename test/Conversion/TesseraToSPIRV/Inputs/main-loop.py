# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts instructions in the part of Intel's assembly, from label to label, that has most dpas.

A line for dpas, one for each kind of access to memory, and one for all others together but
`sync.nop`, by which a thread waits.
"""

import collections
import re
import sys

parts = [[]]
for line in open(sys.argv[1]):
    if re.match(r"L\d+:", line):
        parts.append([])
    elif line[:1] in "( \t":
        parts[-1].append(line)

counts = collections.Counter()
for line in max(parts, key=lambda part: sum("dpas" in line for line in part)):
    words = re.sub(r"^\s*(\([^)]*\)\s*)?", "", line).split()
    if not words or words[0].startswith("sync"):
        continue
    kind = words[0]
    if kind.startswith("send"):
        # The disassembler describes a message in a note.
        note = re.search(r"// .*?((load|store)\w*\.[\w.]+)", line)
        if note:
            # A load to the null register is a prefetch.
            isPrefetch = "load" in note.group(2) and words[2] == "null"
            kind = "prefetch" if isPrefetch else note.group(1)
    elif not kind.startswith("dpas"):
        kind = "others"
    counts[kind] += 1

others = counts.pop("others", 0)
for kind in sorted(counts):
    print(f"{kind}: {counts[kind]}")
print(f"others: {others}")
