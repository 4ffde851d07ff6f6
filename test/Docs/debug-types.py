# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the sources of passes whose DEBUG_TYPE is not the argument of their pass.

usage: debug-types.py TREE

The source of a pass is the one that defines GEN_PASS_DEF_NAME for a `def Name : Pass<"argument"`
of a .td file. A source of another name must use the argument of some pass.
"""

import pathlib
import re
import sys


def main():
    tree = pathlib.Path(sys.argv[1])
    arguments = {}
    for path in sorted(tree.glob("include/**/*.td")):
        text = path.read_text(encoding="utf-8")
        for name, argument in re.findall(r"\bdef\s+(\w+)\s*:\s*Pass<\s*\"([^\"]+)\"", text):
            arguments[name.upper()] = argument

    wrong, seen = [], set()
    for path in sorted(tree.glob("lib/**/*.cpp")):
        text = path.read_text(encoding="utf-8")
        relative = path.relative_to(tree)
        types = re.findall(r"^#define DEBUG_TYPE \"(.*)\"$", text, re.MULTILINE)
        if len(types) > 1:
            wrong.append(f"{relative}: defines DEBUG_TYPE {len(types)} times")
        if "#undef DEBUG_TYPE" in text:
            wrong.append(f"{relative}: the build undefines DEBUG_TYPE after each source")
        passes = re.findall(r"^#define GEN_PASS_DEF_(\w+)$", text, re.MULTILINE)
        for name in passes:
            argument = arguments.get(name)
            if argument is None:
                wrong.append(f"{relative}: no .td file defines the pass {name}")
                continue
            seen.add(argument)
            if not types:
                wrong.append(f'{relative}: no DEBUG_TYPE, expected "{argument}"')
            elif types[0] != argument:
                wrong.append(f'{relative}: DEBUG_TYPE is "{types[0]}", expected "{argument}"')
        if not passes and types and types[0] not in arguments.values():
            wrong.append(f'{relative}: DEBUG_TYPE "{types[0]}" is not the argument of a pass')
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(seen)} passes, {len(wrong)} wrong sources")
    return 1 if wrong else 0


sys.exit(main())
