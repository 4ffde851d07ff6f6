# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's side of a case of cases.py: the ways in which its libraries compute it from given tensors, the
result in a wider type, and the difference from it that a result may have."""

import math
from dataclasses import dataclass
from typing import Callable

import torch
from torch.nn import functional

from cases import LAYER_NORM_EPSILON, TYPES

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
          "i8": torch.int8, "i32": torch.int32, "f8E4M3FN": torch.float8_e4m3fn}
#: The distance from 1 to the next number.
EPSILON = {torch.float64: 2.0 ** -52, torch.float32: 2.0 ** -23, torch.float16: 2.0 ** -10,
           torch.bfloat16: 2.0 ** -7, torch.float8_e4m3fn: 2.0 ** -3, torch.int8: 0.0, torch.int32: 0.0}
#: Heads of which attention is checked, and rows of their queries at most in one piece.
CHECKED_HEADS, CHECKED_ROWS = 3, 4096


@dataclass
class Way:
    """One way to compute a case: `call` on what `prepare` makes of the case's arguments before anything is
    timed. `select` is called first and sets what is global in PyTorch."""

    name: str
    call: Callable
    prepare: Callable = lambda *tensors: tensors
    select: Callable = lambda: None
    #: Only of interest if there is no other.
    is_last_resort: bool = False


def set_tf32(allowed):
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def make_random(element, shape, device):
    """Random contents: between -1 and 1, or any integer. Two integers of 4 bits are a byte."""
    if element == "i4":
        return torch.randint(0, 256, (*shape[:-1], shape[-1] // 2), dtype=torch.uint8, device=device)
    dtype = DTYPES[element]
    if dtype in (torch.int8, torch.int32):
        return torch.randint(-128, 128, shape, dtype=dtype, device=device)
    return (torch.rand(*shape, device=device, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
            * 2 - 1).to(dtype)


# -- Matmuls ---------------------------------------------------------------------------------------------


def as_matrices(case, a, b):
    """Views of the arguments as m by k and k by n."""
    layout = case.more["layout"]
    return (a.mT if layout[0] == "T" else a), (b.mT if layout[1] == "T" else b)


def padded(matrix, rows, columns):
    """Enlarged by zeros to multiples, if it is not one already."""
    more = [-matrix.shape[0] % rows, -matrix.shape[1] % columns]
    if not any(more):
        return matrix
    large = torch.zeros([size + grown for size, grown in zip(matrix.shape, more)], dtype=torch.int8,
                        device=matrix.device)
    large[:matrix.shape[0], :matrix.shape[1]] = matrix.contiguous().view(torch.int8)
    return large.view(matrix.dtype)


def narrow_ways(case):
    """8-bit matmuls, for which cuBLAS demands a layout and multiples of some sizes."""
    m, n, k = case.shape
    is_int = case.type == "i8"
    # _int_mm takes more than 16 rows.
    rows, step = (17 if m <= 16 else 1, 8) if is_int else (1, 16)
    grown = ", padded" if m % rows or n % step or k % step else ""

    def operands(a, b, along_k):
        a, b = as_matrices(case, a, b)
        a, b = padded(a.contiguous(), rows, step), padded(b, step, step)
        return a, (b.mT.contiguous().mT if along_k else b.contiguous())

    if is_int:
        return [Way(f"_int_mm, B along {along}{grown}", torch._int_mm,
                    lambda a, b, along=along: operands(a, b, along == "K")) for along in ("K", "N")]
    one = torch.ones((), device="cuda" if torch.cuda.is_available() else "cpu")
    fast = case.type == "f8fast"
    return [Way(f"_scaled_mm, B along K{', fast' if fast else ''}{grown}",
                lambda a, b: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.float32,
                                              use_fast_accum=fast), lambda a, b: operands(a, b, True))]


def matmul_ways(case):
    if case.type in ("i8", "f8", "f8fast"):
        return narrow_ways(case)
    function = torch.bmm if case.kind == "batched" else torch.mm
    return [Way(function.__name__, function, lambda a, b: as_matrices(case, a, b))]


# -- Weights of few bits ---------------------------------------------------------------------------------


def unpack(case, stored):
    """The integers of a tensor of 4 or 8 bits, the low half of a byte first."""
    signed = not case.more["zero"]
    if case.more["bits"] == 8:
        return (stored if signed else stored.view(torch.uint8)).int()
    halves = torch.stack((stored & 15, stored >> 4), -1).flatten(-2).int()
    return torch.where(halves > 7, halves - 16, halves) if signed else halves


def dequantized(case, w, s, z=None):
    """The weights as the program computes them: rounded to its type by the multiplication."""
    numbers = unpack(case, w).reshape(*s.shape, -1)
    if z is not None:
        numbers = numbers - unpack(case, z).reshape(s.shape).unsqueeze(-1)
    return (numbers.to(s.dtype) * s.unsqueeze(-1)).flatten(1)


def narrow_weights_ways(case):
    """The matmul of wide weights; and PyTorch's own kernels, whose layouts are made ahead of time."""
    (m, n, k), group, bits = case.shape, case.more["group"], case.more["bits"]
    ways = [Way("linear, wide weights", functional.linear, lambda a, *more: (a, dequantized(case, *more)))]
    # Both compute with bf16. The values of the weights have no effect on the time.
    if case.type == "bf16" and bits == 4:
        ways.append(Way("_weight_int4pack_mm", lambda a, w, s: torch._weight_int4pack_mm(a, w, group, s),
                        lambda a, w, s, *_: (a, torch._convert_weight_to_int4pack(w.contiguous(), 8),
                                             torch.stack((s, s), -1).transpose(0, 1).contiguous())))
    if case.type == "bf16" and bits == 8:
        ways.append(Way("_weight_int8pack_mm, a scale for each column", torch._weight_int8pack_mm,
                        lambda a, w, s, *_: (a, w, s[:, 0].contiguous())))
    return ways


# -- Convolutions ----------------------------------------------------------------------------------------


def as_image(case, x, w, *bias):
    """The arguments as conv2d expects them, in the layout of the case: NHWC is PyTorch's channels_last."""
    batch, size, channels, filters, window, _ = case.shape
    groups = case.more["groups"]
    depthwise = groups == channels == filters and groups > 1
    if case.more["layout"] == "NCHW":
        return (x.reshape(batch, channels, size, size),
                w.reshape(filters, channels // groups, window, window), *bias)
    x = x.reshape(batch, size, size, channels).permute(0, 3, 1, 2)
    if depthwise:
        w = w.permute(2, 0, 1).unsqueeze(1)
    elif groups > 1:
        w = w.reshape(filters, window, window, channels // groups).permute(0, 3, 1, 2)
    else:
        w = w.permute(3, 2, 0, 1)
    return x, w.contiguous(memory_format=torch.channels_last), *bias


ACTIVATIONS = {None: lambda y: y, "relu6": functional.relu6, "swish": functional.silu}


def convolve(case, x, w, bias=None):
    _, _, _, _, window, stride = case.shape
    y = functional.conv2d(x, w, bias, stride=stride, padding=window // 2, groups=case.more["groups"])
    return ACTIVATIONS[case.more["activation"]](y)


def conv_ways(case):
    name = "channels_last" if case.more["layout"] == "NHWC" else "contiguous"
    return [Way(f"conv2d, {name}", lambda *tensors: convolve(case, *tensors),
                lambda *tensors: as_image(case, *tensors))]


# -- Attention -------------------------------------------------------------------------------------------


def select_backend(chosen):
    """Switches on one backend of scaled_dot_product_attention: a context around each call would be timed."""
    torch.backends.cuda.enable_cudnn_sdp(chosen == "cudnn")
    torch.backends.cuda.enable_flash_sdp(chosen == "flash")
    torch.backends.cuda.enable_mem_efficient_sdp(chosen == "efficient")
    torch.backends.cuda.enable_math_sdp(chosen == "math")


def attention_ways(case):
    heads, queries, _, size = case.shape
    causal, key_heads = case.more["causal"], case.more["key_heads"]
    attend = functional.scaled_dot_product_attention
    shared = heads != key_heads

    def separate(q, k, v):
        return q.reshape(1, heads, queries, size), k.unsqueeze(0), v.unsqueeze(0)

    def folded(q, k, v):
        """The heads that share keys, as more queries of one head."""
        return q.reshape(1, key_heads, heads // key_heads * queries, size), k.unsqueeze(0), v.unsqueeze(0)

    more = {"enable_gqa": True} if shared else {}
    ways = []
    for backend in ("cudnn", "flash", "efficient", "math"):
        select = lambda backend=backend: select_backend(backend)
        last = backend == "math"
        ways.append(Way(backend, lambda q, k, v: attend(q, k, v, is_causal=causal, **more), separate, select, last))
        if shared and not causal and not last:
            ways.append(Way(f"{backend}, heads folded", attend, folded, select))
    return ways


def check_rows_of_attention(case, ours, q, k, v):
    """Yields pieces of our result, their expected values and the permitted errors, for some heads."""
    heads, queries, _, size = case.shape
    key_heads = case.more["key_heads"]
    ours, q = ours.reshape(heads, queries, size), q.reshape(heads, queries, size)
    step = max((heads - 1) // (CHECKED_HEADS - 1), 1)
    for head in range(0, heads, step):
        keys, values = (t[head * key_heads // heads].float() for t in (k, v))
        for row in range(0, queries, CHECKED_ROWS):
            rows = slice(row, min(row + CHECKED_ROWS, queries))
            scores = q[head, rows].float() @ keys.T * size ** -0.5
            if case.more["causal"]:
                index = torch.arange(len(keys), device=q.device)
                scores.masked_fill_(index > index[rows].unsqueeze(1), -math.inf)
                seen = index[rows].unsqueeze(1) + 1.0
            else:
                seen = torch.full((1, 1), float(len(keys)), device=q.device)
            # A result is a mean of so many values, whose weights are rounded.
            slack = 4 * EPSILON[ours.dtype] * seen ** -0.5
            yield ours[head, rows], torch.softmax(scores, 1) @ values, slack


# -- All of them -----------------------------------------------------------------------------------------


def make_ways(case):
    """The ways in which the library may compute the case; the fastest counts."""
    if case.kind in ("gemm", "batched"):
        return matmul_ways(case)
    if case.kind == "weights":
        return narrow_weights_ways(case)
    if case.kind == "conv":
        return conv_ways(case)
    if case.kind == "attention":
        return attention_ways(case)
    if case.kind == "softmax":
        return [Way("softmax", lambda x: torch.softmax(x, 1))]
    if case.kind == "layer_norm":
        return [Way("layer_norm", lambda x, scale, shift: functional.layer_norm(
            x, x.shape[1:], scale, shift, LAYER_NORM_EPSILON))]
    if case.kind == "reduction":
        return [Way("sum", lambda x: x.sum(case.more["axis"]))]
    return [Way("permute, contiguous", lambda x: x.permute(case.more["permutation"]).contiguous())]


def compute_wide(case, tensors):
    """The result in a wider type, in the layout of ours. tf32 must be switched off."""
    if case.kind == "transpose":
        return tensors[0].permute(case.more["permutation"])
    if case.kind == "weights":
        a, *more = tensors
        return a.float() @ dequantized(case, *more).float().mT
    is_narrow = TYPES[case.type][0] in ("f16", "bf16", "f8E4M3FN")
    if case.kind == "conv":
        # cuDNN has few convolutions of f64. The fastest one is not searched for.
        searches, torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark, False
        try:
            y = convolve(case, *(t.float() for t in as_image(case, *tensors)))
        finally:
            torch.backends.cudnn.benchmark = searches
        return y if case.more["layout"] == "NCHW" else y.permute(0, 2, 3, 1)
    wide = [t.float() if is_narrow else t.double() for t in tensors]
    if case.kind in ("gemm", "batched"):
        return torch.matmul(*as_matrices(case, *wide))
    return make_ways(case)[0].call(*wide)


def count_terms(case):
    """Returns the number of terms of the sum that is an element of the result."""
    if case.kind in ("gemm", "batched", "weights"):
        return case.shape[-1]
    if case.kind == "conv":
        _, _, channels, _, window, _ = case.shape
        return window * window * channels // case.more["groups"]
    if case.kind == "reduction":
        return case.shape[case.more["axis"]]
    return 1


def get_slack(case):
    """The absolute error that a result may have before it is rounded: that of the sums of products of
    numbers between -1 and 1 in the accumulator's type, by the number of terms."""
    terms = count_terms(case)
    if case.kind == "transpose" or case.type == "i8":
        return 0.0
    if case.kind in ("softmax", "layer_norm"):
        return 1e-5
    if case.type == "f64":
        return terms * 2.0 ** -50
    if case.type == "tf32":
        return terms ** 0.5 * 2.0 ** -9
    if case.type == "f8":
        return terms ** 0.5 * 2.0 ** -10
    if case.type == "f8fast":
        return terms ** 0.5 * 2.0 ** -6
    slack = terms * 2.0 ** -22 + (terms ** 1.5 * 2.0 ** -27)
    # Weights are scales between -1 and 1 times integers.
    if case.kind == "weights":
        return slack * 2 ** case.more["bits"]
    # cuDNN may use Winograd's algorithm for what ours is compared with.
    return slack * (16 if case.kind == "conv" else 1)


def compare(case, ours, tensors):
    """The largest error, and the largest one by what is permitted: above 1 or not a number, ours is wrong."""
    set_tf32(False)
    if case.kind == "attention":
        pieces = check_rows_of_attention(case, ours, *tensors)
    else:
        wide = compute_wide(case, tensors)
        pieces = [(ours.reshape(wide.shape), wide, get_slack(case))]
    worst = largest = 0.0
    for got, wanted, slack in pieces:
        if case.kind == "transpose":
            same = torch.equal(got.contiguous().view(torch.uint8), wanted.contiguous().view(torch.uint8))
            return (0.0, 0.0) if same else (math.inf, math.inf)
        difference = (got.to(wanted.dtype) - wanted).abs_()
        largest = max(largest, difference.max().item())
        limit = wanted.abs_().mul_(EPSILON[got.dtype]).add_(slack)
        # Neither 0 by 0 nor NaN passes for a number.
        share = torch.where(difference == 0, 0.0, difference / limit)
        worst = max(worst, math.inf if share.isnan().any() else share.max().item())
    return largest, worst
