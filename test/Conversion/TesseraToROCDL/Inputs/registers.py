#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads AMDGPU assembly from standard input and compares what its kernels spill, and have of private
memory, with what is known.

    registers.py [KERNEL=SPILLED,BYTES]...

A kernel that is not named has to have neither, one that is named no more than that; a name that
nothing is wrong with any more is an error too. Prints how many kernels there were.
"""

import re
import sys

known = {}
for argument in sys.argv[1:]:
    name, limits = argument.split("=")
    known[name] = [int(n) for n in limits.split(",")]

kernels, failed = 0, False
kernel = {}
# The metadata of each kernel have these in alphabetical order.
FIELDS = ("name", "private_segment_fixed_size", "sgpr_spill_count", "vgpr_spill_count")
for line in sys.stdin:
    field = re.match(r" +(?:- )?\.(\w+): +(\S+)$", line)
    if not field or field[1] not in FIELDS:
        continue
    kernel[field[1]] = field[2]
    if field[1] != FIELDS[-1]:
        continue
    if "private_segment_fixed_size" not in kernel:
        sys.exit(f"{kernel.get('name')}: incomplete metadata")
    kernels += 1
    name = kernel["name"]
    spilled = int(kernel["vgpr_spill_count"]) + int(kernel["sgpr_spill_count"])
    private = int(kernel["private_segment_fixed_size"])
    most = known.pop(name, [0, 0])
    if spilled > most[0] or private > most[1]:
        print(f"{name}: {spilled} registers spilled, {private} bytes of private memory; known: {most[0]}, {most[1]}")
        failed = True
    elif most != [0, 0] and spilled == 0 and private == 0:
        print(f"{name}: nothing is spilled any more")
        failed = True
    kernel = {}
for name in known:
    print(f"{name}: there is no such kernel")
    failed = True
print(f"{kernels} kernels")
sys.exit(failed or kernels == 0)
