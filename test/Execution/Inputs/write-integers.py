# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write-integers.py FILE WIDTH SHAPE VALUE...: an array of signed integers of WIDTH bytes as a file; the shape is
# such as 2x3. `multiples FACTOR MODULUS` instead of values: element i is FACTOR * i mod MODULUS.

import math
import struct
import sys

name, width, shape = sys.argv[1], int(sys.argv[2]), sys.argv[3].split("x")
if sys.argv[4] == "multiples":
    factor, modulus = int(sys.argv[5]), int(sys.argv[6])
    values = [factor * i % modulus for i in range(math.prod(map(int, shape)))]
else:
    values = [int(value) for value in sys.argv[4:]]
header = f"{{'descr': '<i{width}', 'fortran_order': False, 'shape': ({', '.join(shape)},), }}"
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(name, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{len(values)}{'i' if width == 4 else 'q'}", *values))
