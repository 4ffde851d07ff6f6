#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile_commands.py FILE: prints the compilation database FILE with one command for each source.

CMake's database names the files of a unity build (TESSERA_UNITY), which include the sources, and the
commands use the precompiled header. The commands printed here use neither.
"""

import json
import re
import sys


def list_sources(file):
    """The sources that `file` includes when it is one of a unity build, else `file` alone."""
    if "/Unity/unity_" not in file:
        return [file]
    with open(file, encoding="utf-8") as text:
        return re.findall(r'^#include "([^"]+)"', text.read(), re.MULTILINE)


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        entries = json.load(text)
    result = []
    for entry in entries:
        command = entry["command"].replace(" -Winvalid-pch", "")
        command = re.sub(r" -Xclang -include(-pch)? -Xclang [^ ]+", "", command)
        for source in list_sources(entry["file"]):
            result.append(
                {
                    "directory": entry["directory"],
                    "command": command.replace(entry["file"], source),
                    "file": source,
                }
            )
    json.dump(result, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
