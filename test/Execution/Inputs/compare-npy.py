# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare-npy.py FIRST SECOND TOLERANCE: two arrays of f16 or f32, as files. Prints how far they are
# apart, and fails when that is more than the tolerance; also when an element is NaN.

import ast
import math
import struct
import sys


def read(name):
    with open(name, "rb") as file:
        content = file.read()
    assert content[:6] == b"\x93NUMPY", name
    length = struct.unpack_from("<H", content, 8)[0]
    header = ast.literal_eval(content[10 : 10 + length].decode())
    code = {"<f2": "e", "<f4": "f"}[header["descr"]]
    assert not header["fortran_order"], name
    data = content[10 + length :]
    return header["shape"], struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)


first_shape, first = read(sys.argv[1])
second_shape, second = read(sys.argv[2])
if first_shape != second_shape:
    sys.exit(f"the shapes are {first_shape} and {second_shape}")
apart = max(abs(x - y) for x, y in zip(first, second))
print(f"{len(first)} elements, {len(set(first))} of them different: {apart:.3g} apart")
if not math.isfinite(sum(first) + sum(second)) or not apart <= float(sys.argv[3]):
    sys.exit("that is too much")
