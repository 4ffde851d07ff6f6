# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages the entries of a folder: cuts them short, or changes a byte in the middle."""

import pathlib
import sys

for path in pathlib.Path(sys.argv[2]).iterdir():
    data = bytearray(path.read_bytes())
    if sys.argv[1] == "cut":
        data = data[: len(data) * 2 // 3]
    else:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)
