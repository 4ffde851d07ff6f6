#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds comparisons with the names of targets outside the targets' own folders.

  scripts/check-targets.py [ROOT]

A target's name is compared in its folder of lib/Target, or of lib/Runtime, only: everything else
asks TargetInfo, TargetBackend or RuntimeBackend. The names are those that the targets' folders
register. Prints a line for each comparison in lib, tools and include; exit status 1 if there is
any.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)

names = set()
for path in root.glob("lib/Target/*/Chips.cpp"):
    text = path.read_text()
    names.update(re.findall(r'TargetInfo target\{"([^"]+)"', text))
    for aliases in re.findall(r"target\.aliases = \{([^}]*)\}", text):
        names.update(re.findall(r'"([^"]+)"', aliases))
if not names:
    sys.exit(f"{root}/lib/Target: no target registers its name")

name = '"(?:' + "|".join(sorted(map(re.escape, names))) + ')"'
comparison = re.compile(
    rf"(?:[=!]= *{name}|{name} *[=!]=|"
    rf"\b(?:Cases?|CasesLower|starts_with|consume_front|equals|equals_insensitive|compare|"
    rf"is_contained|count|strcmp)\([^;]*?{name})")
own = re.compile(r"lib/(?:Target|Runtime)/[^/]+/")

found = 0
for folder in ("lib", "tools", "include"):
    for path in sorted((root / folder).rglob("*")):
        relative = path.relative_to(root).as_posix()
        if path.suffix not in (".cpp", ".h", ".td", ".def") or own.match(relative):
            continue
        text = path.read_text()
        for match in comparison.finditer(text):
            found += 1
            line = text.count("\n", 0, match.start()) + 1
            print(f"{relative}:{line}: compares with a target's name: {' '.join(match[0].split())}")
print(f"{len(names)} names, {found} comparisons outside the targets' folders")
sys.exit(1 if found else 0)
