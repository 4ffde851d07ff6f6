#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds comparisons with the names of targets outside the targets' own folders, and passes with
options for a target.

  scripts/check-targets.py [ROOT]

A target's name is compared in its folder of lib/Target, or of lib/Runtime, only: everything else
asks TargetInfo, TargetBackend or RuntimeBackend. The names are those that the targets' folders
register. Only `tessera-attach-chip` has the options `target` and `chip`: other passes read the
chip in the IR. Prints a line for each comparison in lib, tools and include, and for each such
option; exit status 1 if there is any.
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
options = 0
for path in sorted((root / "include").rglob("*Passes.td")):
    for part in re.split(r"^(?=def )", path.read_text(), flags=re.MULTILINE):
        name_of_pass = re.search(r'Pass<"([^"]+)"', part)
        if name_of_pass and name_of_pass[1] != "tessera-attach-chip":
            for option in re.findall(r'\bOption<"(target|chip)"', part):
                options += 1
                print(f"{path.relative_to(root).as_posix()}: {name_of_pass[1]} has an option {option}")
print(f"{len(names)} names, {found} comparisons outside the targets' folders, "
      f"{options} options of passes")
sys.exit(1 if found or options else 0)
