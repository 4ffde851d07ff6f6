# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# powers.py make f32|f64 SEED DIRECTORY: x.npy and y.npy, the corner cases of powers and angles in all
# pairs and as many random pairs as make 2^17.
# powers.py check pow|atan2 f32|f64 DIRECTORY OUT.npy [UNITS]: compares an output with the C library's
# function of long double. The largest error must be at most 2 units in the last place, and what is zero,
# infinite or NaN must be so, with the sign. With UNITS, for a device that takes subnormal numbers for
# zero and whose division is approximate: at most so many, and subnormal numbers are not compared.

import ast
import ctypes
import ctypes.util
import math
import random
import struct
import sys

COUNT = 1 << 17
FORMATS = {
    "f32": ("f", "<f4", -149, 24, 128),
    "f64": ("d", "<f8", -1074, 53, 1024),
}


def write(name, values, code, descr):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def read(name, code):
    with open(name, "rb") as file:
        content = file.read()
    length = struct.unpack_from("<H", content, 8)[0]
    ast.literal_eval(content[10 : 10 + length].decode())
    data = content[10 + length :]
    return struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)


def rounded(value, code):
    try:
        return struct.unpack(f"<{code}", struct.pack(f"<{code}", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def make(kind, seed, directory):
    code, descr, least, precision, most = FORMATS[kind]
    tiny, largest = math.ldexp(1, least), math.ldexp(2 - math.ldexp(1, 1 - precision), most - 1)
    step = math.ldexp(1, 1 - precision)
    special = [0, 1, 0.5, 2, 3, 1.5, 7, 1 + step, 1 - step / 2, 1 - 3 * step, tiny, 3 * tiny]
    special += [math.ldexp(1, least + precision - 1), largest, math.inf, 2**23, 2**24 - 1, 2**24]
    special += [2**52 - 0.5, 2.0**53 - 1, 2.0**53, 1e9, 0.1, 7 / 16, 11 / 16, 150, 1e-10, 1075]
    special = [rounded(sign * value, code) for value in special for sign in (1, -1)] + [math.nan]
    pairs = [(x, y) for x in special for y in special]
    draw = random.Random(seed)
    exponent = lambda: draw.randint(least, most - 1)
    mantissa = lambda: draw.uniform(1, 2) * draw.choice((1, 1, -1))
    while len(pairs) < COUNT:
        how = draw.randrange(6)
        x, y = math.ldexp(mantissa(), exponent()), math.ldexp(mantissa(), exponent())
        if how == 0:  # Finite powers of any size.
            log = math.log2(abs(x)) if x else 1
            y = draw.uniform(least - 2, most) / (log or 1)
        elif how == 1:  # Bases near 1.
            x = 1 + math.ldexp(mantissa(), -draw.randint(1, precision - 1))
            log = math.log2(abs(x)) if x else 1
            y = draw.uniform(least, most) / (log or 1)
        elif how == 2:  # Whole exponents of negative bases.
            x, y = -draw.uniform(0, 4), draw.randint(-200, 200)
        elif how == 3:  # Usual numbers.
            x, y = draw.uniform(0, 100), draw.uniform(-10, 10)
        elif how == 4:  # Angles from all quarters.
            x, y = draw.uniform(-1, 1), draw.uniform(-1, 1)
        pairs.append((rounded(x, code), rounded(y, code)))
    write(f"{directory}/x.npy", [x for x, _ in pairs], code, descr)
    write(f"{directory}/y.npy", [y for _, y in pairs], code, descr)


def check(function, kind, directory, output, units=None):
    code, _, least, precision, most = FORMATS[kind]
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    exact = getattr(library, function + "l")
    exact.restype = ctypes.c_longdouble
    exact.argtypes = [ctypes.c_longdouble] * 2
    xs, ys = read(f"{directory}/x.npy", code), read(f"{directory}/y.npy", code)
    worst, at = 0, None
    for x, y, value in zip(xs, ys, read(output, code), strict=True):
        expected = exact(x, y)
        near = rounded(expected, code)
        smallest = math.ldexp(1, least + precision - 1)
        if units and any(0 < abs(number) <= smallest for number in (x, y, near)):
            continue
        if math.isnan(near) or math.isinf(near) or near == 0 or not math.isfinite(value) or value == 0:
            same = math.isnan(near) and math.isnan(value)
            same |= near == value and math.copysign(1, near) == math.copysign(1, value)
            # At most 2 steps from the largest or the smallest number.
            if not same and near == near and value == value and math.copysign(1, near) == math.copysign(1, value):
                small = max(abs(near), abs(value)) <= math.ldexp(2, least)
                limit = math.ldexp(1 - math.ldexp(1, 1 - precision), most)
                same = small or min(abs(near), abs(value)) >= limit
            if not same:
                sys.exit(f"{function}({x!r}, {y!r}) is {value!r} rather than {near!r}")
            continue
        unit = math.ldexp(1, max(math.frexp(near)[1] - precision, least))
        error = abs(value - expected) / unit
        if error > worst:
            worst, at = error, (x, y, value, expected)
    print(f"{function} of {kind}: {len(xs)} values, at most {worst:.3f} units in the last place, at {at}")
    if worst > float(units or 2):
        sys.exit("that is too much")


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), sys.argv[4])
else:
    check(*sys.argv[2:])
