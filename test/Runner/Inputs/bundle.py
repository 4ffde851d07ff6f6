# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bundle.py BUNDLE PREFIX: prints the entries of an offload bundle, and writes each to PREFIX.N.

By the table in Clang's "Offload Bundler", "Bundled Code Object Layout"."""

import struct
import sys

name, prefix = sys.argv[1:]
data = open(name, "rb").read()
assert data[:24] == b"__CLANG_OFFLOAD_BUNDLE__", data[:24]
(count,), position = struct.unpack_from("<Q", data, 24), 32
for index in range(count):
    offset, size, length = struct.unpack_from("<3Q", data, position)
    entry = data[position + 24 : position + 24 + length].decode()
    position += 24 + length
    print(f"{entry}: {size} bytes")
    with open(f"{prefix}.{index}", "wb") as out:
        out.write(data[offset : offset + size])
