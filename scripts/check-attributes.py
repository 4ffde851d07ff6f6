#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds discardable attributes of the dialect that are named by string literals.

  scripts/check-attributes.py [ROOT]

The attributes are declared in TesseraDialect.td; other code gets their names from the helpers that
TableGen makes of that (TesseraDialect::GroupAttrHelper::getNameStr()). Prints a line for each
literal "tessera.NAME" in lib, include and tools outside of the dialect's folder, unless it names
an op, and for each attribute that the table in the dialect's description lacks or has in excess.
Exit status 1 if there is any. Programs that lib/Fuzz writes are text and not checked.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
ir = "include/Dialect/Tessera/IR"

text = (root / ir / "TesseraDialect.td").read_text()
declared = set(re.findall(r'"[\w:]+":\$(\w+)', text))
described = set(re.findall(r"^ *\| `(\w+)` \| \w+Attr|^ *\| `(\w+)` \| [A-Z]", text, re.M))
described = {a or b for a, b in described}
if not declared:
    sys.exit(f"{root}/{ir}/TesseraDialect.td declares no attribute")
ops = set()
for path in (root / "include").rglob("*.td"):
    ops.update(re.findall(r'def \w+ : \w*Op<(?:\w+, )?"(?:tessera\.)?(\w+)"', path.read_text()))

found = 0
for name in sorted(declared ^ described):
    found += 1
    print(f"{ir}/TesseraDialect.td: {name} is not "
          f"{'in the table of the description' if name in declared else 'declared'}")
for folder in ("include", "lib", "tools"):
    for path in sorted((root / folder).rglob("*")):
        relative = path.relative_to(root).as_posix()
        if (path.suffix not in (".cpp", ".h", ".td") or "Dialect/Tessera/IR/" in relative
                or relative.startswith("lib/Fuzz/")):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in re.findall(r'"tessera\.(\w+)"', line):
                if name not in ops:
                    found += 1
                    print(f'{relative}:{number}: "tessera.{name}" is a literal')
print(f"{len(declared)} attributes, {found} problems")
sys.exit(1 if found else 0)
