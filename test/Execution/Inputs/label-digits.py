#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes images.npy of PGM files, or prints the labels of scores.npy.

  label-digits.py FOLDER NAME... write|read
"""

import pathlib
import struct
import sys


def write(folder, names):
    pixels = b""
    for name in names:
        pixels += bytes(int(word) for word in (folder / f"{name}.pgm").read_text().split()[4:])
    header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({len(names)}, 1, 8, 8), }}".ljust(117)
    pathlib.Path("images.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + b"\n" + pixels)


def read(names):
    data = pathlib.Path("scores.npy").read_bytes()
    scores = struct.unpack(f"<{10 * len(names)}f", data[-40 * len(names):])
    for index, name in enumerate(names):
        row = scores[10 * index:10 * index + 10]
        print(f"{name} is labelled {row.index(max(row))}")


folder, *names, action = sys.argv[1:]
if action == "write":
    write(pathlib.Path(folder), names)
else:
    read(names)
