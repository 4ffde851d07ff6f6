# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# poison-pages.py PREFIX: for sequences of 150 and 37 keys in pages of 16, PREFIX.clean.{k,v,table}.npy and
# PREFIX.poisoned.{k,v,table}.npy. Keys and values of the sequences are the same in both. All others are zero in the
# first and NaN in the second, whose table names pages that do not exist after those of the sequences.

import math
import random
import struct
import sys

PAGES, SIZE, HEADS, WIDTH, LENGTHS, COLUMNS = 40, 16, 2, 32, (150, 37), 12


def write(name, code, descr, shape, values):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))


generator = random.Random(1)
order = generator.sample(range(PAGES), PAGES)
used, clean, poisoned = set(), [], []
for length in LENGTHS:
    count = -(-length // SIZE)
    pages = [order.pop() for _ in range(count)]
    used.update((page, row) for i, page in enumerate(pages) for row in range(min(SIZE, length - i * SIZE)))
    clean += pages + [0] * (COLUMNS - count)
    poisoned += pages + [(1000000, -1, 40)[i % 3] for i in range(COLUMNS - count)]
write(f"{sys.argv[1]}.clean.table.npy", "i", "<i4", (len(LENGTHS), COLUMNS), clean)
write(f"{sys.argv[1]}.poisoned.table.npy", "i", "<i4", (len(LENGTHS), COLUMNS), poisoned)
for name in ("k", "v"):
    values = {key: [generator.uniform(-1, 1) for _ in range(HEADS * WIDTH)] for key in sorted(used)}
    for kind, other in (("clean", 0.0), ("poisoned", math.nan)):
        rows = [values.get((page, row), [other] * (HEADS * WIDTH)) for page in range(PAGES) for row in range(SIZE)]
        write(f"{sys.argv[1]}.{kind}.{name}.npy", "e", "<f2", (PAGES, SIZE, HEADS, WIDTH), sum(rows, []))
