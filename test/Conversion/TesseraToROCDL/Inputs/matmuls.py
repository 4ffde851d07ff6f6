#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module with matmuls of all supported types, with default schedules: with known shapes,
with shapes that no tile divides, with unknown shapes, and with transposed operands; and matmuls with
weights of i4, and with zero points.

A function, and with it the kernel, is named by the types and the form: f16_f32_known.
"""

# Operand, accumulator. One 8-bit float of each form that an AMD chip may have.
TYPES = [
    ("f16", "f32"),
    ("f16", "f16"),
    ("bf16", "f32"),
    ("f32", "f32"),
    ("f64", "f64"),
    ("i8", "i32"),
    ("i4", "i32"),
    ("f8E4M3FN", "f32"),
    ("f8E4M3FNUZ", "f32"),
]

# Extents of M, N and K; whether a and b are transposed.
FORMS = {
    "known": (("4096", "4096", "4096"), False),
    "odd": (("4095", "4097", "4099"), False),
    "turned": (("4096", "4096", "4096"), True),
    "dynamic": (("?", "?", "?"), False),
}


def product(operand, acc, form):
    (m, n, k), turned = FORMS[form]
    if operand == "i4" and form in ("odd", "dynamic"):
        k, n = ("4100", "4098") if form == "odd" else (k, n)
    a = f"{k}x{m}" if turned else f"{m}x{k}"
    b = f"{n}x{k}" if turned else f"{k}x{n}"
    a, b, c = (f"tensor<{shape}x{t}>" for shape, t in ((a, operand), (b, operand), (f"{m}x{n}", acc)))
    maps = ""
    if turned:
        maps = (
            "indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, "
            "affine_map<(m, n, k) -> (m, n)>] "
        )
    return f"""func.func @{operand}_{acc}_{form}(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %r = linalg.matmul {maps}ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %r : {c}
}}"""


def weights(m, n, k, form):
    """f16 by i4 that are scaled for each column."""
    a, w, s, c, d = (
        f"tensor<{m}x{k}xf16>", f"tensor<{k}x{n}xi4>", f"tensor<{n}xf16>", f"tensor<{m}x{n}xf32>", f"tensor<{k}x{n}xf16>",
    )
    sizes, empty = "", f"tensor.empty() : {d}"
    if k == "?":
        sizes = f"""  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %k = tensor.dim %w, %zero : {w}
  %n = tensor.dim %w, %one : {w}
"""
        empty = f"tensor.empty(%k, %n) : {d}"
    return f"""func.func @weights_{form}(%a: {a}, %w: {w}, %s: {s}, %c: {c}) -> {c} {{
{sizes}  %e = {empty}
  %d = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%w, %s : {w}, {s}) outs(%e : {d}) {{
  ^bb0(%x: i4, %scale: f16, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  }} -> {d}
  %r = linalg.matmul ins(%a, %d : {a}, {d}) outs(%c : {c}) -> {c}
  return %r : {c}
}}"""


def zero_points(m, n, k, form):
    a, b, c = f"tensor<{m}x{k}xi8>", f"tensor<{k}x{n}xi8>", f"tensor<{m}x{n}xi32>"
    return f"""func.func @zero_points_{form}(%a: {a}, %b: {b}, %za: i32, %zb: i32, %c: {c}) -> {c} {{
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : {a}, {b}, i32, i32) outs(%c : {c}) -> {c}
  return %r : {c}
}}"""


for operand, acc in TYPES:
    # Unknown shapes take the most. The others differ by an element's bytes alone.
    forms = ["dynamic"]
    if (operand, acc) in (("f16", "f32"), ("i8", "i32")):
        forms = list(FORMS)
    elif operand in ("f64", "i4"):
        forms = ["odd", "dynamic"]
    for form in forms:
        print(product(operand, acc, form))
for form in ("known", "dynamic"):
    print(weights(*FORMS[form][0], form))
print(zero_points(*FORMS["dynamic"][0], "dynamic"))
