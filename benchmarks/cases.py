# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measured cases. A case is a program, the contents of its arguments, and the computation of a peer.

The sizes are those at which the libraries were measured before, and as many again: odd ones, small
ones, and ones whose tiles do not fill a machine. None is left out for being slow.
"""

from dataclasses import dataclass, field

# name -> operand, accumulator, options of gpu-runner
TYPES = {
    "f32": ("f32", "f32", ()),
    "f16": ("f16", "f32", ()),
    "bf16": ("bf16", "f32", ()),
    "tf32": ("f32", "f32", ("--allow-tf32",)),
    "f64": ("f64", "f64", ()),
    "i8": ("i8", "i32", ()),
    "f8": ("f8E4M3FN", "f32", ()),
}
BYTES = {"f64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i8": 1, "f8E4M3FN": 1}


@dataclass
class Case:
    suite: str
    name: str
    # The peers select their code by it: "gemm", "batched", "fused", "conv", "attention".
    kind: str
    type: str
    shape: tuple
    program: str
    flops: float
    bytes: float
    arguments: int
    options: tuple = ()
    more: dict = field(default_factory=dict)


def zero_of(element):
    return "0" if element.startswith("i") else "0.0"


def filled(name, element, shape):
    """A tensor of zeros."""
    return f"""  %zero_{name} = arith.constant {zero_of(element)} : {element}
  %empty_{name} = tensor.empty() : tensor<{shape}x{element}>
  %{name} = linalg.fill ins(%zero_{name} : {element}) outs(%empty_{name} : tensor<{shape}x{element}>) -> tensor<{shape}x{element}>
"""


def rounded(value, result, acc, out, shape):
    """`result`: `value` in the type of the operands, as the libraries give it."""
    return f"""  %{result} = arith.truncf %{value} : tensor<{shape}x{acc}> to tensor<{shape}x{out}>
"""


def product(dims, operands, a, b, c, acc, op):
    """linalg's product `op` of %a and %b into %product."""
    return filled("init", acc, c) + f"""  %product = {op} ins(%a, %b : tensor<{a}x{operands}>, tensor<{b}x{operands}>) outs(%init : tensor<{c}x{acc}>) -> tensor<{c}x{acc}>
"""


def function(arguments, body, value, kind):
    spelled = ", ".join(f"%{name}: tensor<{text}>" for name, text in arguments)
    return f"func.func @main({spelled}) -> tensor<{kind}> {{\n{body}  return %{value} : tensor<{kind}>\n}}\n"


def narrow(kind):
    """The type of a library's result: that of 16-bit operands, else the accumulator's."""
    operand, acc, _ = TYPES[kind]
    return operand if operand in ("f16", "bf16") else acc


def gemm(kind, m, n, k, suite="gemm"):
    operand, acc, options = TYPES[kind]
    out = narrow(kind)
    # fp8 libraries take the second operand column by column.
    transposed = kind == "f8"
    op = "linalg.matmul"
    b = f"{k}x{n}"
    if transposed:
        b = f"{n}x{k}"
        op += " indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]"
    body = product(None, operand, f"{m}x{k}", b, f"{m}x{n}", acc, op)
    if out != acc:
        body += rounded("product", "result", acc, out, f"{m}x{n}")
    text = function([("a", f"{m}x{k}x{operand}"), ("b", f"{b}x{operand}")], body,
                    "result" if out != acc else "product", f"{m}x{n}x{out}")
    size = (m * k + k * n) * BYTES[operand] + m * n * BYTES[out]
    return Case(suite, f"{kind} {m}x{n}x{k}", "gemm", kind, (m, n, k), text, 2.0 * m * n * k, size, 2, options)


def batched(kind, count, m, n, k):
    operand, acc, options = TYPES[kind]
    out = narrow(kind)
    c = f"{count}x{m}x{n}"
    body = product(None, operand, f"{count}x{m}x{k}", f"{count}x{k}x{n}", c, acc, "linalg.batch_matmul")
    if out != acc:
        body += rounded("product", "result", acc, out, c)
    text = function([("a", f"{count}x{m}x{k}x{operand}"), ("b", f"{count}x{k}x{n}x{operand}")], body,
                    "result" if out != acc else "product", f"{c}x{out}")
    size = count * ((m * k + k * n) * BYTES[operand] + m * n * BYTES[out])
    return Case("batched", f"{kind} {count} of {m}x{n}x{k}", "batched", kind, (count, m, n, k), text,
                2.0 * count * m * n * k, size, 2, options)


def fused(kind, m, n, k):
    """relu(a b + bias) + residual, rounded once."""
    operand, acc, options = TYPES[kind]
    c = f"{m}x{n}"
    body = product(None, operand, f"{m}x{k}", f"{k}x{n}", c, acc, "linalg.matmul")
    body += f"""  %empty = tensor.empty() : tensor<{c}x{operand}>
  %result = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%product, %bias, %residual : tensor<{c}x{acc}>, tensor<{n}x{operand}>, tensor<{c}x{operand}>) outs(%empty : tensor<{c}x{operand}>) {{
  ^bb0(%p: {acc}, %v: {operand}, %r: {operand}, %o: {operand}):
    %0 = arith.extf %v : {operand} to {acc}
    %1 = arith.addf %p, %0 : {acc}
    %2 = arith.maximumf %1, %zero_init : {acc}
    %3 = arith.extf %r : {operand} to {acc}
    %4 = arith.addf %2, %3 : {acc}
    %5 = arith.truncf %4 : {acc} to {operand}
    linalg.yield %5 : {operand}
  }} -> tensor<{c}x{operand}>
"""
    text = function([("a", f"{m}x{k}x{operand}"), ("b", f"{k}x{n}x{operand}"), ("bias", f"{n}x{operand}"),
                     ("residual", f"{c}x{operand}")], body, "result", f"{c}x{operand}")
    size = (m * k + k * n + n + 2 * m * n) * BYTES[operand]
    return Case("fused", f"{kind} {m}x{n}x{k} + bias, relu, residual", "fused", kind, (m, n, k), text,
                2.0 * m * n * k, size, 4, options)


def conv(kind, batch, size, channels, filters, window, stride=1):
    """NHWC, padded so that stride 1 keeps the image's size."""
    operand, acc, options = TYPES[kind]
    out = narrow(kind)
    pad = window // 2
    wide = size + 2 * pad
    result = (wide - window) // stride + 1
    x, padded = f"{batch}x{size}x{size}x{channels}", f"{batch}x{wide}x{wide}x{channels}"
    w, c = f"{window}x{window}x{channels}x{filters}", f"{batch}x{result}x{result}x{filters}"
    body = ""
    if pad:
        body += f"""  %none = arith.constant {zero_of(operand)} : {operand}
  %image = tensor.pad %a low[0, {pad}, {pad}, 0] high[0, {pad}, {pad}, 0] {{
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %none : {operand}
  }} : tensor<{x}x{operand}> to tensor<{padded}x{operand}>
"""
    image = "image" if pad else "a"
    body += filled("init", acc, c) + f"""  %product = linalg.conv_2d_nhwc_hwcf {{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}
      ins(%{image}, %b : tensor<{padded}x{operand}>, tensor<{w}x{operand}>) outs(%init : tensor<{c}x{acc}>) -> tensor<{c}x{acc}>
"""
    if out != acc:
        body += rounded("product", "result", acc, out, c)
    text = function([("a", f"{x}x{operand}"), ("b", f"{w}x{operand}")], body,
                    "result" if out != acc else "product", f"{c}x{out}")
    points = batch * result * result * filters
    bytes_ = (batch * size * size * channels + window * window * channels * filters) * BYTES[operand] + points * BYTES[out]
    name = f"{kind} {batch}x{size}x{size} {channels}->{filters} {window}x{window}" + (f"/{stride}" if stride > 1 else "")
    return Case("conv", name, "conv", kind, (batch, size, channels, filters, window, stride), text,
                2.0 * points * window * window * channels, bytes_, 2, options)


def attention(kind, heads, queries, keys, size, causal=False):
    """softmax(q k^T / sqrt(size)) v for each head; with `causal`, query i sees keys up to i. Half of the
    causal scores do not count as work."""
    operand, acc, options = TYPES[kind]
    q, k, s = f"{heads}x{queries}x{size}", f"{heads}x{keys}x{size}", f"{heads}x{queries}x{keys}"
    maps = ["affine_map<(h, m, n, k) -> (h, m, k)>", "affine_map<(h, m, n, k) -> (h, {}, {})>",
            "affine_map<(h, m, n, k) -> (h, m, n)>"]
    spell = lambda *second: ", ".join([maps[0], maps[1].format(*second), maps[2]])
    body = filled("init", acc, s) + f"""  %scores = linalg.contract indexing_maps = [{spell("n", "k")}]
      ins(%q, %k : tensor<{q}x{operand}>, tensor<{k}x{operand}>) outs(%init : tensor<{s}x{acc}>) -> tensor<{s}x{acc}>
  %factor = arith.constant {size ** -0.5:.9e} : {acc}
  %hidden = arith.constant 0xFF800000 : {acc}
  %scaled = linalg.generic {{
      indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%scores : tensor<{s}x{acc}>) outs(%empty_init : tensor<{s}x{acc}>) {{
  ^bb0(%x: {acc}, %o: {acc}):
    %0 = arith.mulf %x, %factor : {acc}
"""
    if causal:
        body += f"""    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %1 = arith.select %seen, %0, %hidden : {acc}
"""
    body += f"""    linalg.yield %{1 if causal else 0} : {acc}
  }} -> tensor<{s}x{acc}>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<{s}x{acc}>) outs(%empty_init : tensor<{s}x{acc}>) -> tensor<{s}x{acc}>
""" + rounded("weights", "narrow", acc, operand, s) + filled("sums", acc, q) + f"""  %product = linalg.contract indexing_maps = [{spell("k", "n")}]
      ins(%narrow, %v : tensor<{s}x{operand}>, tensor<{k}x{operand}>) outs(%sums : tensor<{q}x{acc}>) -> tensor<{q}x{acc}>
""" + rounded("product", "result", acc, operand, q)
    text = function([("q", f"{q}x{operand}"), ("k", f"{k}x{operand}"), ("v", f"{k}x{operand}")], body, "result",
                    f"{q}x{operand}")
    bytes_ = heads * (2 * queries + 2 * keys) * size * BYTES[operand]
    flops = 4.0 * heads * queries * keys * size / (2 if causal else 1)
    name = f"{kind} {heads} heads, {queries}x{keys}x{size}" + (", causal" if causal else "")
    return Case("attention", name, "attention", kind, (heads, queries, keys, size), text, flops, bytes_, 3, options,
                {"causal": causal})


ALIGNED = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 8192),
           (4096, 11008, 4096), (8192, 28672, 4096), (2048, 1024, 8200)]
HARD = [(128, 4096, 4096), (16, 4096, 4096), (512, 512, 65536), (1000, 1000, 1000), (4097, 4095, 4093)]
OWN = [(3072, 3072, 3072), (2560, 5120, 2560), (5120, 5120, 1024), (8192, 1024, 8192), (12288, 4096, 768),
       (4096, 4096, 128), (256, 256, 16384), (64, 8192, 8192), (32, 11008, 4096), (8, 4096, 14336), (1, 4096, 4096),
       (2047, 2049, 2051), (777, 1555, 3111)]

SUITES = {
    "gemm": [gemm(kind, *size) for kind in ("bf16", "f16") for size in ALIGNED + HARD + OWN],
    "types": [gemm(kind, *size, suite="types") for kind in ("tf32", "f32", "i8", "f8", "f64")
              for size in ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192),
                           (4096, 11008, 4096), (128, 4096, 4096), (16, 4096, 4096), (1000, 1000, 1000),
                           (4097, 4095, 4093), (2048, 1024, 8200))],
    "batched": [batched("f16", *size) for size in
                ((32, 512, 512, 64), (128, 1024, 1024, 64), (128, 1024, 64, 1024), (16, 1024, 1024, 1024),
                 (4096, 16, 16, 16), (512, 128, 128, 128),
                 (64, 100, 100, 100), (1024, 32, 32, 32), (8, 2048, 2048, 128), (256, 197, 197, 64),
                 (16384, 8, 8, 8), (3, 1000, 1000, 1000))],
    "fused": [fused("bf16", *size) for size in
              ((4096, 4096, 4096), (8192, 8192, 1024), (2048, 1024, 8192),
               (1024, 4096, 1024), (128, 4096, 4096), (1000, 1000, 1000))],
    "attention": [attention(*case) for case in
                  (("bf16", 128, 4096, 4096, 128), ("bf16", 128, 4096, 4096, 128, True),
                   ("f16", 64, 1024, 1024, 64), ("f16", 64, 1024, 1024, 64, True),
                   ("bf16", 32, 2048, 2048, 128), ("bf16", 32, 2048, 2048, 128, True),
                   ("bf16", 16, 8192, 8192, 128), ("bf16", 16, 8192, 8192, 128, True),
                   ("f16", 8, 100, 77, 64))],
    "conv": [conv("f16", 32, *size) for size in
             ((56, 64, 64, 3), (28, 128, 128, 3), (14, 256, 256, 3), (7, 512, 512, 3), (56, 64, 256, 1),
              (224, 3, 64, 7, 2), (28, 256, 512, 1, 2),
              (112, 32, 64, 3), (56, 128, 128, 3, 2), (14, 1024, 256, 1), (28, 96, 160, 3), (35, 192, 96, 5),
              (17, 768, 192, 1), (56, 64, 128, 5))],
    # Sizes at which two cores have something to do.
    "cpu": [gemm(kind, *size, suite="cpu") for kind, size in
            (("f32", (1024, 1024, 1024)), ("f32", (512, 512, 512)), ("f32", (1000, 1000, 1000)),
             ("f32", (2048, 2048, 2048)), ("f64", (1024, 1024, 1024)), ("f32", (64, 1024, 1024)),
             ("f32", (257, 511, 1023)), ("f64", (500, 500, 500)))],
}
