# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a JSON object from standard input, one line for each value: its path and the value."""

import json
import sys


def refuse(name):
    raise ValueError(name + " is not JSON")


def show(path, value):
    items = (
        value.items() if isinstance(value, dict)
        else enumerate(value) if isinstance(value, list)
        else None
    )
    if items is None:
        print(".".join(path) + ": " + str(value))
    else:
        for key, item in items:
            show(path + [str(key)], item)


show([], json.load(sys.stdin, parse_constant=refuse))
