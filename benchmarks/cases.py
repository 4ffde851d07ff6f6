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
    # With sums in the reduced precision of the tensor cores.
    "f8fast": ("f8E4M3FN", "f32", ("--allow-fast-f8",)),
}
BYTES = {"f64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i8": 1, "f8E4M3FN": 1}


@dataclass
class Case:
    suite: str
    name: str
    # The peers select their code by it: "gemm", "batched", "weights", "fused", "conv", "attention", "softmax",
    # "layer_norm", "reduction", "transpose".
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


def stored(layout, m, n, k):
    """The stored sizes of both operands of a matmul: N is row by row, T is transposed."""
    return ((k, m) if layout[0] == "T" else (m, k)), ((n, k) if layout[1] == "T" else (k, n))


def maps(layout, batch=""):
    """The indexing maps of linalg's matmul for operands that are stored by `layout`."""
    a, b = stored(layout, "m", "n", "k")
    return ", ".join(f"affine_map<({batch}m, n, k) -> ({batch}{', '.join(dims)})>" for dims in (a, b, ("m", "n")))


def gemm(kind, m, n, k, suite="gemm", layout=None):
    """`layout` has a letter for each operand: N, stored row by row, or T, transposed."""
    operand, acc, options = TYPES[kind]
    out = narrow(kind)
    # fp8 libraries take the second operand column by column.
    usual = "NT" if kind.startswith("f8") else "NN"
    layout = layout or usual
    a, b = ("x".join(map(str, sizes)) for sizes in stored(layout, m, n, k))
    op = "linalg.matmul" if layout == "NN" else f"linalg.matmul indexing_maps = [{maps(layout)}]"
    body = product(None, operand, a, b, f"{m}x{n}", acc, op)
    if out != acc:
        body += rounded("product", "result", acc, out, f"{m}x{n}")
    text = function([("a", f"{a}x{operand}"), ("b", f"{b}x{operand}")], body,
                    "result" if out != acc else "product", f"{m}x{n}x{out}")
    size = (m * k + k * n) * BYTES[operand] + m * n * BYTES[out]
    name = f"{kind} {m}x{n}x{k}" + (f" {layout}" if layout != usual else "")
    return Case(suite, name, "gemm", kind, (m, n, k), text, 2.0 * m * n * k, size, 2, options, {"layout": layout})


def batched(kind, count, m, n, k, layout="NN"):
    operand, acc, options = TYPES[kind]
    out = narrow(kind)
    a, b = (f"{count}x" + "x".join(map(str, sizes)) for sizes in stored(layout, m, n, k))
    c = f"{count}x{m}x{n}"
    op = "linalg.batch_matmul" + (f" indexing_maps = [{maps(layout, 'z, ')}]" if layout != "NN" else "")
    body = product(None, operand, a, b, c, acc, op)
    if out != acc:
        body += rounded("product", "result", acc, out, c)
    text = function([("a", f"{a}x{operand}"), ("b", f"{b}x{operand}")], body,
                    "result" if out != acc else "product", f"{c}x{out}")
    size = count * ((m * k + k * n) * BYTES[operand] + m * n * BYTES[out])
    name = f"{kind} {count} of {m}x{n}x{k}" + (f" {layout}" if layout != "NN" else "")
    return Case("batched", name, "batched", kind, (count, m, n, k), text, 2.0 * count * m * n * k, size, 2, options,
                {"layout": layout})


def weights(kind, bits, m, n, k, group=128, zero=False):
    """A matmul by NxK weights of 8 or 4 bits with a scale for each `group` elements of K; with `zero`, they are
    unsigned, and each group has a zero point."""
    operand, acc, options = TYPES[kind]
    stored, groups = f"i{bits}", k // group
    whole, parts, scales = f"{n}x{k}", f"{n}x{groups}x{group}", f"{n}x{groups}"
    every, one = "affine_map<(n, g, i) -> (n, g, i)>", "affine_map<(n, g, i) -> (n, g)>"
    inputs, types, argument, number = "%grouped, %s", f"tensor<{parts}x{stored}>, tensor<{scales}x{operand}>", "", f"""
    %f = arith.sitofp %x : {stored} to {operand}"""
    if zero:
        inputs, types, argument = f"{inputs}, %z", f"{types}, tensor<{scales}x{stored}>", f", %y: {stored}"
        number = f"""
    %0 = arith.extui %x : {stored} to i32
    %1 = arith.extui %y : {stored} to i32
    %2 = arith.subi %0, %1 : i32
    %f = arith.sitofp %2 : i32 to {operand}"""
    body = f"""  %grouped = tensor.expand_shape %w [[0], [1, 2]] output_shape [{n}, {groups}, {group}] : tensor<{whole}x{stored}> into tensor<{parts}x{stored}>
  %empty = tensor.empty() : tensor<{parts}x{operand}>
  %wide = linalg.generic {{
      indexing_maps = [{every}, {one}{", " + one if zero else ""}, {every}], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins({inputs} : {types}) outs(%empty : tensor<{parts}x{operand}>) {{
  ^bb0(%x: {stored}, %scale: {operand}{argument}, %o: {operand}):{number}
    %p = arith.mulf %f, %scale : {operand}
    linalg.yield %p : {operand}
  }} -> tensor<{parts}x{operand}>
  %b = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<{parts}x{operand}> into tensor<{whole}x{operand}>
"""
    body += product(None, operand, f"{m}x{k}", whole, f"{m}x{n}", acc, f"linalg.matmul indexing_maps = [{maps('NT')}]")
    body += rounded("product", "result", acc, operand, f"{m}x{n}")
    arguments = [("a", f"{m}x{k}x{operand}"), ("w", f"{whole}x{stored}"), ("s", f"{scales}x{operand}")]
    if zero:
        arguments.append(("z", f"{scales}x{stored}"))
    text = function(arguments, body, "result", f"{m}x{n}x{operand}")
    size = (m * k + m * n + n * groups) * BYTES[operand] + (n * k + (n * groups if zero else 0)) * bits // 8
    name = f"{kind} {m}x{n}x{k}, weights of {bits} bits, groups of {group}" + (", zero points" if zero else "")
    return Case("weights", name, "weights", kind, (m, n, k), text, 2.0 * m * n * k, size, len(arguments), options,
                {"bits": bits, "group": group, "zero": zero})


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


def conv_op(layout, batch, size, result, channels, filters, window, groups):
    """linalg's convolution, and the shapes of its image, filters and result."""
    c, f = channels // groups, filters // groups
    square, wide = (size, size), (window, window)
    if groups == channels == filters and groups > 1:
        if layout == "NHWC":
            return ("depthwise_conv_2d_nhwc_hwc", (batch, *square, groups), (*wide, groups),
                    (batch, result, result, groups))
        return "depthwise_conv_2d_nchw_chw", (batch, groups, *square), (groups, *wide), (batch, groups, result, result)
    if groups > 1:
        if layout == "NHWC":
            return ("conv_2d_nhwgc_gfhwc", (batch, *square, groups, c), (groups, f, *wide, c),
                    (batch, result, result, groups, f))
        return ("conv_2d_ngchw_gfchw", (batch, groups, c, *square), (groups, f, c, *wide),
                (batch, groups, f, result, result))
    if layout == "NHWC":
        return "conv_2d_nhwc_hwcf", (batch, *square, c), (*wide, c, f), (batch, result, result, f)
    return "conv_2d_nchw_fchw", (batch, c, *square), (f, c, *wide), (batch, f, result, result)


# The functions after a convolution of a network, of a value %v of f32.
ACTIVATIONS = {
    "relu6": """    %zero = arith.constant 0.0 : f32
    %six = arith.constant 6.0 : f32
    %low = arith.maximumf %v, %zero : f32
    %y = arith.minimumf %low, %six : f32
""",
    "swish": """    %one = arith.constant 1.0 : f32
    %negated = arith.negf %v : f32
    %power = math.exp %negated : f32
    %sum = arith.addf %power, %one : f32
    %y = arith.divf %v, %sum : f32
""",
}


def activated(activation, operand, acc, out, shape, filters):
    """%product, of NHWC, with a bias of each filter and `activation`, as %result."""
    maps_ = "affine_map<(n, h, w, c) -> (n, h, w, c)>", "affine_map<(n, h, w, c) -> (c)>"
    return f"""  %empty_result = tensor.empty() : tensor<{shape}x{out}>
  %result = linalg.generic {{indexing_maps = [{maps_[0]}, {maps_[1]}, {maps_[0]}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
      ins(%product, %bias : tensor<{shape}x{acc}>, tensor<{filters}x{operand}>) outs(%empty_result : tensor<{shape}x{out}>) {{
  ^bb0(%x: {acc}, %narrow: {operand}, %old: {out}):
    %wide = arith.extf %narrow : {operand} to {acc}
    %v = arith.addf %x, %wide : {acc}
{ACTIVATIONS[activation]}    %rounded = arith.truncf %y : {acc} to {out}
    linalg.yield %rounded : {out}
  }} -> tensor<{shape}x{out}>
"""


def conv(kind, batch, size, channels, filters, window, stride=1, groups=1, layout="NHWC", activation=None):
    """Padded so that stride 1 keeps the image's size. With `activation`, of ACTIVATIONS, a bias is added before
    it; for 16-bit types in NHWC without groups, or with as many as channels."""
    operand, acc, options = TYPES[kind]
    out = narrow(kind)
    pad = window // 2
    wide = size + 2 * pad
    result = (wide - window) // stride + 1
    shapes = (batch, size, result, channels, filters, window, groups)
    op, *rest = conv_op(layout, *shapes)
    x, w, c = ("x".join(map(str, sizes)) for sizes in rest)
    padded = "x".join(map(str, conv_op(layout, batch, wide, *shapes[2:])[1]))
    body = ""
    if pad:
        rank = len(rest[0])
        image = range(1, 3) if layout == "NHWC" else range(rank - 2, rank)
        low = ", ".join(str(pad if d in image else 0) for d in range(rank))
        places = ", ".join(f"%{name}: index" for name in "ijklm"[:rank])
        body += f"""  %none = arith.constant {zero_of(operand)} : {operand}
  %image = tensor.pad %a low[{low}] high[{low}] {{
  ^bb0({places}):
    tensor.yield %none : {operand}
  }} : tensor<{x}x{operand}> to tensor<{padded}x{operand}>
"""
    image = "image" if pad else "a"
    body += filled("init", acc, c) + f"""  %product = linalg.{op} {{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}
      ins(%{image}, %b : tensor<{padded}x{operand}>, tensor<{w}x{operand}>) outs(%init : tensor<{c}x{acc}>) -> tensor<{c}x{acc}>
"""
    arguments = [("a", f"{x}x{operand}"), ("b", f"{w}x{operand}")]
    if activation:
        arguments.append(("bias", f"{filters}x{operand}"))
        body += activated(activation, operand, acc, out, c, filters)
    elif out != acc:
        body += rounded("product", "result", acc, out, c)
    text = function(arguments, body, "result" if out != acc else "product", f"{c}x{out}")
    points = batch * result * result * filters
    bytes_ = ((batch * size * size * channels + window * window * channels // groups * filters) * BYTES[operand]
              + points * BYTES[out])
    name = f"{kind} {batch}x{size}x{size} {channels}->{filters} {window}x{window}" + (f"/{stride}" if stride > 1 else "")
    name += (f" of {groups} groups" if groups > 1 else "") + (f" {layout}" if layout != "NHWC" else "")
    name += f", {activation}" if activation else ""
    return Case("conv", name, "conv", kind, (batch, size, channels, filters, window, stride), text,
                2.0 * points * window * window * channels // groups, bytes_, len(arguments), options,
                {"groups": groups, "layout": layout, "activation": activation})


def attention(kind, heads, queries, keys, size, causal=False, key_heads=None):
    """softmax(q k^T / sqrt(size)) v for each head; with `causal`, query i sees keys up to i. Half of the
    causal scores do not count as work. With `key_heads`, so many heads of keys and values serve all heads
    of queries, as many each."""
    operand, acc, options = TYPES[kind]
    shared = key_heads is not None and key_heads != heads
    key_heads = key_heads or heads
    before = f"{key_heads}x{heads // key_heads}" if shared else f"{heads}"
    q, k, s = f"{before}x{queries}x{size}", f"{key_heads}x{keys}x{size}", f"{before}x{queries}x{keys}"
    every, of_keys = ("g, h", "g") if shared else ("h", "h")
    rank = 4 if shared else 3
    spell = lambda *second: ", ".join(
        f"affine_map<({every}, m, n, k) -> ({dims})>"
        for dims in (f"{every}, m, k", f"{of_keys}, {', '.join(second)}", f"{every}, m, n"))
    same = f"affine_map<({every}, i, j) -> ({every}, i, j)>"
    body = filled("init", acc, s) + f"""  %scores = linalg.contract indexing_maps = [{spell("n", "k")}]
      ins(%q, %k : tensor<{q}x{operand}>, tensor<{k}x{operand}>) outs(%init : tensor<{s}x{acc}>) -> tensor<{s}x{acc}>
  %factor = arith.constant {size ** -0.5:.9e} : {acc}
  %hidden = arith.constant 0xFF800000 : {acc}
  %scaled = linalg.generic {{
      indexing_maps = [{same}, {same}],
      iterator_types = [{", ".join(['"parallel"'] * rank)}]}}
      ins(%scores : tensor<{s}x{acc}>) outs(%empty_init : tensor<{s}x{acc}>) {{
  ^bb0(%x: {acc}, %o: {acc}):
    %0 = arith.mulf %x, %factor : {acc}
"""
    if causal:
        body += f"""    %i = linalg.index {rank - 2} : index
    %j = linalg.index {rank - 1} : index
    %seen = arith.cmpi sle, %j, %i : index
    %1 = arith.select %seen, %0, %hidden : {acc}
"""
    body += f"""    linalg.yield %{1 if causal else 0} : {acc}
  }} -> tensor<{s}x{acc}>
  %weights = linalg.softmax dimension({rank - 1}) ins(%scaled : tensor<{s}x{acc}>) outs(%empty_init : tensor<{s}x{acc}>) -> tensor<{s}x{acc}>
""" + rounded("weights", "narrow", acc, operand, s) + filled("sums", acc, q) + f"""  %product = linalg.contract indexing_maps = [{spell("k", "n")}]
      ins(%narrow, %v : tensor<{s}x{operand}>, tensor<{k}x{operand}>) outs(%sums : tensor<{q}x{acc}>) -> tensor<{q}x{acc}>
""" + rounded("product", "result", acc, operand, q)
    text = function([("q", f"{q}x{operand}"), ("k", f"{k}x{operand}"), ("v", f"{k}x{operand}")], body, "result",
                    f"{q}x{operand}")
    bytes_ = 2 * (heads * queries + key_heads * keys) * size * BYTES[operand]
    flops = 4.0 * heads * queries * keys * size / (2 if causal else 1)
    name = (f"{kind} {heads}{f'/{key_heads}' if shared else ''} heads, {queries}x{keys}x{size}"
            + (", causal" if causal else ""))
    return Case("attention", name, "attention", kind, (heads, queries, keys, size), text, flops, bytes_, 3, options,
                {"causal": causal, "key_heads": key_heads})


def widened(value, result, operand, acc, shape):
    """`result`: `value` in the type that is computed with."""
    if operand == acc:
        return "", value
    return f"  %{result} = arith.extf %{value} : tensor<{shape}x{operand}> to tensor<{shape}x{acc}>\n", result


def over_rows(suite, kind, rows, columns, body, value, arguments, shape, name):
    """A case of a computation of `value`, in the accumulator's type, with the array %x of rows and columns."""
    operand, acc, options = TYPES[kind]
    if operand != acc:
        body += rounded(value, "result", acc, operand, shape)
        value = "result"
    sizes = [f"{rows}x{columns}"] + [f"{columns}"] * (arguments - 1)
    text = function([(n, f"{size}x{operand}") for n, size in zip(("x", "scale", "shift"), sizes)], body, value,
                    f"{shape}x{operand}")
    count = 1
    for size in shape.split("x"):
        count *= int(size)
    bytes_ = (rows * columns + (arguments - 1) * columns + count) * BYTES[operand]
    return Case(suite, f"{kind} {name} {rows}x{columns}", suite, kind, (rows, columns), text, 0.0, bytes_, arguments,
                options)


def softmax(kind, rows, columns):
    """A softmax over each row."""
    operand, acc, _ = TYPES[kind]
    shape = f"{rows}x{columns}"
    body, value = widened("x", "wide", operand, acc, shape)
    body += f"""  %empty = tensor.empty() : tensor<{shape}x{acc}>
  %y = linalg.softmax dimension(1) ins(%{value} : tensor<{shape}x{acc}>) outs(%empty : tensor<{shape}x{acc}>) -> tensor<{shape}x{acc}>
"""
    return over_rows("softmax", kind, rows, columns, body, "y", 1, shape, "softmax")


LAYER_NORM_EPSILON = 1e-5


def layer_norm(kind, rows, columns):
    """Normalizes each row, with a factor and a summand for each column."""
    operand, acc, _ = TYPES[kind]
    shape = f"{rows}x{columns}"
    row, column, both = "affine_map<(i, j) -> (i)>", "affine_map<(i, j) -> (j)>", "affine_map<(i, j) -> (i, j)>"
    body, value = widened("x", "wide", operand, acc, shape)
    pieces, names = "", []
    for name in ("scale", "shift"):
        piece, wide = widened(name, f"{name}_wide", operand, acc, f"{columns}")
        pieces += piece
        names.append(wide)
    body += pieces + filled("init", acc, f"{rows}") + f"""  %part = arith.constant {1 / columns:.9e} : {acc}
  %least = arith.constant {LAYER_NORM_EPSILON:.9e} : {acc}
  %sum = linalg.reduce {{arith.addf}} ins(%{value} : tensor<{shape}x{acc}>) outs(%init : tensor<{rows}x{acc}>) dimensions = [1]
  %squares = linalg.generic {{indexing_maps = [{both}, {row}, {row}], iterator_types = ["parallel", "reduction"]}}
      ins(%{value}, %sum : tensor<{shape}x{acc}>, tensor<{rows}x{acc}>) outs(%init : tensor<{rows}x{acc}>) {{
  ^bb0(%e: {acc}, %s: {acc}, %o: {acc}):
    %mean = arith.mulf %s, %part : {acc}
    %d = arith.subf %e, %mean : {acc}
    %q = arith.mulf %d, %d : {acc}
    %t = arith.addf %o, %q : {acc}
    linalg.yield %t : {acc}
  }} -> tensor<{rows}x{acc}>
  %empty = tensor.empty() : tensor<{shape}x{acc}>
  %y = linalg.generic {{indexing_maps = [{both}, {row}, {row}, {column}, {column}, {both}], iterator_types = ["parallel", "parallel"]}}
      ins(%{value}, %sum, %squares, %{names[0]}, %{names[1]} : tensor<{shape}x{acc}>, tensor<{rows}x{acc}>, tensor<{rows}x{acc}>, tensor<{columns}x{acc}>, tensor<{columns}x{acc}>)
      outs(%empty : tensor<{shape}x{acc}>) {{
  ^bb0(%e: {acc}, %s: {acc}, %q: {acc}, %f: {acc}, %b: {acc}, %o: {acc}):
    %mean = arith.mulf %s, %part : {acc}
    %d = arith.subf %e, %mean : {acc}
    %variance = arith.mulf %q, %part : {acc}
    %safe = arith.addf %variance, %least : {acc}
    %factor = math.rsqrt %safe : {acc}
    %0 = arith.mulf %d, %factor : {acc}
    %1 = arith.mulf %0, %f : {acc}
    %2 = arith.addf %1, %b : {acc}
    linalg.yield %2 : {acc}
  }} -> tensor<{shape}x{acc}>
"""
    return over_rows("layer_norm", kind, rows, columns, body, "y", 3, shape, "layer norm")


def reduction(kind, rows, columns, axis):
    """Sums over the rows (axis 0) or over the columns (axis 1)."""
    operand, acc, _ = TYPES[kind]
    left = (columns, rows)[axis]
    body, value = widened("x", "wide", operand, acc, f"{rows}x{columns}")
    body += filled("init", acc, f"{left}") + f"""  %y = linalg.reduce {{arith.addf}} ins(%{value} : tensor<{rows}x{columns}x{acc}>) outs(%init : tensor<{left}x{acc}>) dimensions = [{axis}]
"""
    case = over_rows("reduction", kind, rows, columns, body, "y", 1, f"{left}", f"sums over axis {axis} of")
    case.more["axis"] = axis
    return case


def transpose(kind, shape, permutation):
    operand, _, _ = TYPES[kind]
    before = "x".join(map(str, shape))
    after = "x".join(str(shape[p]) for p in permutation)
    body = f"""  %empty = tensor.empty() : tensor<{after}x{operand}>
  %y = linalg.transpose ins(%x : tensor<{before}x{operand}>) outs(%empty : tensor<{after}x{operand}>) permutation = {list(permutation)}
"""
    text = function([("x", f"{before}x{operand}")], body, "y", f"{after}x{operand}")
    count = 1
    for size in shape:
        count *= size
    name = f"{kind} {before} to axes {' '.join(map(str, permutation))}"
    return Case("transpose", name, "transpose", kind, tuple(shape), text, 0.0, 2 * count * BYTES[operand], 1, (),
                {"permutation": tuple(permutation)})


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
