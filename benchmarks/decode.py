#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention for decoding beside PyTorch: changed scores, windows, lengths, and pages of keys.

    benchmarks/decode.py --output=results/decode             # on the GPU of this machine
    benchmarks/decode.py --forms=alibi,paged --keys=8192
    benchmarks/decode.py --check --runner=build/dev/bin/gpu-runner      # small programs on the CPU, without PyTorch
    benchmarks/decode.py --compile-only --runner=gpu-runner --target=cuda:sm_90a

Requires the package `tessera` (scripts/python.sh) and PyTorch. The other side is the fastest of these ways, as
far as they support a form: each backend of scaled_dot_product_attention (bias and masks as a tensor), flex_attention,
compiled, and flash_attn_with_kvcache where the package flash_attn is installed. Both sides run in one process on
the same data, in windows that alternate (cliffs.py describes the method). GB/s counts the keys and values that the
queries see, once. Every result is compared with one in f32.

Writes OUTPUT.md and OUTPUT.json. Exit status 1 if a program fails, or its result is wrong.
"""

import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass

#: The keys of a page, as servers choose them.
PAGE = 16
#: The soft cap, and the keys of a window as a share of all.
CAP, WINDOW_SHARE = 30.0, 8
FORMS = ("plain", "alibi", "bias", "soft_cap", "window", "length", "paged")


@dataclass(frozen=True)
class Case:
    form: str
    batch: int
    key_heads: int
    group: int
    queries: int
    keys: int
    size: int
    element: str = "bf16"

    @property
    def name(self):
        heads = f"{self.key_heads * self.group}/{self.key_heads}" if self.group > 1 else f"{self.key_heads}"
        return (f"{self.form}, {self.element}, batch {self.batch}, {heads} heads, "
                f"{self.queries}x{self.keys}x{self.size}")

    @property
    def window(self):
        return max(self.keys // WINDOW_SHARE, 1)

    @property
    def seen(self):
        """The keys that are read: all queries together see one more for each query but the first."""
        return min(self.window + self.queries - 1, self.keys) if self.form == "window" else self.keys

    @property
    def bytes(self):
        return 2 * 2 * self.batch * self.key_heads * self.seen * self.size

    @property
    def scale(self):
        return self.size ** -0.5


def make_program(case):
    """The program as linalg; its arguments are q, k, v, and what the form adds."""
    b, h, t, m, n, d, el = (case.batch, case.key_heads, case.group, case.queries, case.keys, case.size, case.element)
    space, q, k = f"{b}x{h}x{t}x{m}x{n}", f"{b}x{h}x{t}x{m}x{d}", f"{b}x{h}x{n}x{d}"
    arguments = [f"%q: tensor<{q}x{el}>"]
    before, inputs, maps, types, names = "", "", "", "", ""
    if case.form == "paged":
        pages, count = n // PAGE, b * n // PAGE
        cache = f"{count}x{PAGE}x{h}x{d}"
        arguments += [f"%{x}c: tensor<{cache}x{el}>" for x in "kv"] + [f"%table: tensor<{b}x{pages}xi32>"]
        for x in "kv":
            before += f"""  %{x}e = tensor.empty() : tensor<{k}x{el}>
  %{x} = linalg.generic {{indexing_maps = [affine_map<(b, h, n, d) -> (b, h, n, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}} outs(%{x}e : tensor<{k}x{el}>) {{
  ^bb0(%old: {el}):
    %page_size = arith.constant {PAGE} : index
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = linalg.index 3 : index
    %at = arith.divui %j, %page_size : index
    %row = arith.remui %j, %page_size : index
    %entry = tensor.extract %table[%b, %at] : tensor<{b}x{pages}xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = tensor.extract %{x}c[%page, %row, %h, %d] : tensor<{cache}x{el}>
    linalg.yield %x : {el}
  }} -> tensor<{k}x{el}>
"""
    else:
        arguments += [f"%{x}: tensor<{k}x{el}>" for x in "kv"]

    def add_input(name, shape, element, dims):
        nonlocal inputs, maps, types, names
        arguments.append(f"%{name}: tensor<{shape}x{element}>")
        inputs += f", %{name}"
        types += f", tensor<{shape}x{element}>"
        maps += f", affine_map<(b, h, t, m, n) -> ({dims})>"
        names += f", %{name}_element: {element}"

    body, result = "", "y"
    hidden = "    %hidden = arith.constant 0xFF800000 : f32\n"
    if case.form == "alibi":
        add_input("slopes", f"{h}x{t}", "f32", "h, t")
        body, result = """    %n = linalg.index 4 : index
    %ni = arith.index_cast %n : index to i32
    %nf = arith.sitofp %ni : i32 to f32
    %bias = arith.mulf %slopes_element, %nf : f32
    %z = arith.addf %y, %bias : f32
""", "z"
    elif case.form == "bias":
        add_input("bias", f"{h}x{t}x{m}x{n}", el, "h, t, m, n")
        body, result = f"""    %wide = arith.extf %bias_element : {el} to f32
    %z = arith.addf %y, %wide : f32
""", "z"
    elif case.form == "soft_cap":
        body, result = f"""    %cap = arith.constant {CAP} : f32
    %share = arith.divf %y, %cap : f32
    %bent = math.tanh %share : f32
    %z = arith.mulf %bent, %cap : f32
""", "z"
    elif case.form == "window":
        body, result = f"""    %m = linalg.index 3 : index
    %n = linalg.index 4 : index
    %to_last = arith.constant {n - m} : index
    %to_first = arith.constant {n - m - case.window + 1} : index
    %last = arith.addi %m, %to_last : index
    %first = arith.addi %m, %to_first : index
    %before_end = arith.cmpi sle, %n, %last : index
    %after_begin = arith.cmpi sge, %n, %first : index
    %seen = arith.andi %before_end, %after_begin : i1
{hidden}    %z = arith.select %seen, %y, %hidden : f32
""", "z"
    elif case.form in ("length", "paged"):
        add_input("lengths", f"{b}", "i32", "b")
        body, result = f"""    %n = linalg.index 4 : index
    %length = arith.index_cast %lengths_element : i32 to index
    %seen = arith.cmpi slt, %n, %length : index
{hidden}    %z = arith.select %seen, %y, %hidden : f32
""", "z"
    same = "affine_map<(b, h, t, m, n) -> (b, h, t, m, n)>"
    spell = lambda dims: f"affine_map<(b, h, t, m, n, x) -> ({dims})>"
    parallel = ", ".join(['"parallel"'] * 5)
    return f"""func.func @main({", ".join(arguments)}) -> tensor<{q}x{el}> {{
  %zero = arith.constant 0.0 : f32
{before}  %e = tensor.empty() : tensor<{space}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<{space}xf32>) -> tensor<{space}xf32>
  %qk = linalg.contract indexing_maps = [{spell("b, h, t, m, x")}, {spell("b, h, n, x")}, {spell("b, h, t, m, n")}]
      ins(%q, %k : tensor<{q}x{el}>, tensor<{k}x{el}>) outs(%init : tensor<{space}xf32>) -> tensor<{space}xf32>
  %s = linalg.generic {{indexing_maps = [{same}{maps}, {same}], iterator_types = [{parallel}]}}
      ins(%qk{inputs} : tensor<{space}xf32>{types}) outs(%e : tensor<{space}xf32>) {{
  ^bb0(%x: f32{names}, %old: f32):
    %scale = arith.constant {case.scale:.9e} : f32
    %y = arith.mulf %x, %scale : f32
{body}    linalg.yield %{result} : f32
  }} -> tensor<{space}xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<{space}xf32>) outs(%e : tensor<{space}xf32>) -> tensor<{space}xf32>
  %w = arith.truncf %p : tensor<{space}xf32> to tensor<{space}x{el}>
  %f = tensor.empty() : tensor<{q}xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%f : tensor<{q}xf32>) -> tensor<{q}xf32>
  %r = linalg.contract indexing_maps = [{spell("b, h, t, m, n")}, {spell("b, h, n, x")}, {spell("b, h, t, m, x")}]
      ins(%w, %v : tensor<{space}x{el}>, tensor<{k}x{el}>) outs(%sums : tensor<{q}xf32>) -> tensor<{q}xf32>
  %short = arith.truncf %r : tensor<{q}xf32> to tensor<{q}x{el}>
  return %short : tensor<{q}x{el}>
}}
"""


# -- Without a GPU ---------------------------------------------------------------------------------------


def run_tool(options, case, more):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(make_program(case))
        file.flush()
        return subprocess.run([options.runner, file.name, *more], capture_output=True, text=True, check=False)


def write_integers(path, shape, values):
    """An NPY file of int32."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}i", *values))


def make_inputs(case, folder):
    """The arguments of the program, for gpu-runner."""
    inputs = ["random:1", "random:2", "random:3"]
    if case.form == "paged":
        # Each sequence has its pages in descending order.
        count = case.batch * case.keys // PAGE
        path = os.path.join(folder, "table.npy")
        write_integers(path, (case.batch, case.keys // PAGE), [count - 1 - i for i in range(count)])
        inputs.append("@" + path)
    if case.form in ("alibi", "bias"):
        inputs.append("random:4")
    if case.form in ("length", "paged"):
        path = os.path.join(folder, "lengths.npy")
        write_integers(path, (case.batch,), [max(case.keys - 45 * i, 1) for i in range(case.batch)])
        inputs.append("@" + path)
    return [f"--arg={spec}" for spec in inputs]


def check_on_cpu(options):
    """Verifies a small program of each form on the CPU, or compiles it for a chip; returns the exit status."""
    failed = False
    for form in options.forms:
        case = Case(form, batch=2, key_heads=2, group=4, queries=2, keys=160, size=32, element="f16")
        with tempfile.TemporaryDirectory() as folder:
            if options.compile_only:
                made = ["--emit=bundle", "-o", os.path.join(folder, "made")]
                done = run_tool(options, case, [f"--target={options.target}", *made])
            else:
                done = run_tool(options, case, ["--target=cpu", "--verify", *make_inputs(case, folder)])
        good = done.returncode == 0 and (options.compile_only or "verified" in done.stdout)
        failed |= not good
        print(f"{'ok' if good else 'FAILED'}: {case.name}")
        if not good:
            print(done.stdout + done.stderr, file=sys.stderr)
    return 1 if failed else 0


# -- On the GPU ------------------------------------------------------------------------------------------


def make_tensors(torch, case, device):
    """The arguments of the program."""
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[case.element]
    b, h, t, m, n, d = case.batch, case.key_heads, case.group, case.queries, case.keys, case.size
    make = lambda *shape: torch.randn(shape, dtype=torch.float32, device=device).to(dtype)
    tensors = [make(b, h, t, m, d)]
    if case.form == "paged":
        count = b * n // PAGE
        tensors += [make(count, PAGE, h, d), make(count, PAGE, h, d),
                    torch.randperm(count, device=device).to(torch.int32).reshape(b, n // PAGE)]
    else:
        tensors += [make(b, h, n, d), make(b, h, n, d)]
    if case.form == "alibi":
        heads = torch.arange(1, h * t + 1, device=device, dtype=torch.float32)
        tensors.append(torch.exp2(-8 * heads / (h * t)).reshape(h, t))
    if case.form == "bias":
        tensors.append(make(h, t, m, n))
    if case.form in ("length", "paged"):
        tensors.append(torch.full((b,), n, dtype=torch.int32, device=device))
    return tuple(tensors)


def gather_pages(case, tensors):
    """Keys and values as tensors of batch, heads, keys and size."""
    if case.form != "paged":
        return tensors[1], tensors[2]
    table = tensors[3].long()
    return tuple(cache[table].reshape(case.batch, case.keys, case.key_heads, case.size).transpose(1, 2)
                 for cache in tensors[1:3])


def make_bias(torch, case, tensors):
    """The terms of the scores, as f32 of heads, queries and keys; None without them."""
    device = tensors[0].device
    m, n = case.queries, case.keys
    key = torch.arange(n, device=device)
    if case.form == "alibi":
        return tensors[3].reshape(-1, 1, 1) * key
    if case.form == "bias":
        return tensors[3].float().reshape(-1, m, n)
    if case.form == "window":
        query = torch.arange(m, device=device).unsqueeze(1) + n - m
        seen = (key <= query) & (key > query - case.window)
        return torch.zeros((1, m, n), device=device).masked_fill_(~seen, -math.inf)
    return None


def evaluate(torch, case, tensors):
    """The result in f32."""
    k, v = (x.float() for x in gather_pages(case, tensors))
    scores = torch.einsum("bhtmd,bhnd->bhtmn", tensors[0].float(), k) * case.scale
    if case.form == "soft_cap":
        scores = CAP * torch.tanh(scores / CAP)
    bias = make_bias(torch, case, tensors)
    if bias is not None:
        shape = (case.key_heads, case.group) if len(bias) > 1 else (1, 1)
        scores = scores + bias.reshape(*shape, -1, case.keys)  # One row, or one for each query.
    return torch.einsum("bhtmn,bhnd->bhtmd", torch.softmax(scores, -1), v)


def make_ways(torch, case, tensors):
    """Yields (name, function of q, k, v and so on, arguments) of PyTorch."""
    import library
    b, h, t, m, d = case.batch, case.key_heads, case.group, case.queries, case.size
    q = tensors[0].reshape(b, h * t, m, d)
    attend = torch.nn.functional.scaled_dot_product_attention
    bias = make_bias(torch, case, tensors)
    mask = None if bias is None else bias.to(q.dtype).expand(b, -1 if len(bias) > 1 else h * t, m, -1).contiguous()
    more = {"enable_gqa": True} if t > 1 else {}
    gathered = tuple(x.contiguous() for x in gather_pages(case, tensors)) if case.form != "paged" else None
    for backend in () if case.form == "soft_cap" else ("cudnn", "flash", "efficient", "math"):
        select = lambda backend=backend: library.select_backend(backend)
        if case.form == "paged":
            def call(q, kc, vc, table):
                k, v = gather_pages(case, (q, kc, vc, table))
                return attend(q, k, v, **more)
            yield f"gather, {backend}", call, (q, *tensors[1:4]), select
        elif mask is not None:
            yield backend, lambda q, k, v, mask: attend(q, k, v, attn_mask=mask, **more), (q, *gathered, mask), select
        else:
            yield backend, lambda q, k, v: attend(q, k, v, **more), (q, *gathered), select
    yield from make_flex_way(torch, case, tensors, q, gathered)
    yield from make_flash_ways(torch, case, tensors, q, gathered)


def make_flex_way(torch, case, tensors, q, gathered):
    """flex_attention, which has no pages here."""
    if case.form in ("paged", "length"):
        return
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    slopes = tensors[3].reshape(-1) if case.form == "alibi" else None
    bias = tensors[3].reshape(-1, case.queries, case.keys) if case.form == "bias" else None
    offset = case.keys - case.queries

    def change(score, batch, head, query, key):
        if case.form == "alibi":
            return score + slopes[head] * key
        if case.form == "bias":
            return score + bias[head, query, key]
        if case.form == "soft_cap":
            return CAP * torch.tanh(score / CAP)
        return score

    block_mask = None
    if case.form == "window":
        def is_seen(batch, head, query, key):
            return (key <= query + offset) & (key > query + offset - case.window)
        block_mask = create_block_mask(is_seen, None, None, case.queries, case.keys, device=q.device)
    compiled = torch.compile(flex_attention, dynamic=False)
    yield ("flex", lambda q, k, v: compiled(q, k, v, score_mod=change, block_mask=block_mask,
                                            enable_gqa=case.group > 1), (q, *gathered), lambda: None)


def make_flash_ways(torch, case, tensors, q, gathered):
    """flash_attn_with_kvcache, of the package flash_attn."""
    if case.form == "bias":
        return
    try:
        from flash_attn import flash_attn_with_kvcache
    except ImportError:
        return
    q = q.transpose(1, 2).contiguous()
    more = {}
    if case.form == "alibi":
        more["alibi_slopes"] = tensors[3].reshape(-1)
    if case.form == "soft_cap":
        more["softcap"] = CAP
    if case.form == "window":
        more.update(causal=True, window_size=(case.window - 1, 0))
    if case.form in ("length", "paged"):
        more["cache_seqlens"] = tensors[-1]
    if case.form == "paged":
        more["block_table"] = tensors[3]
        arguments = (q, tensors[1], tensors[2])
    else:
        arguments = (q, *(x.transpose(1, 2).contiguous() for x in gathered))
    yield ("flash_attn", lambda q, k, v: flash_attn_with_kvcache(q, k, v, softmax_scale=case.scale, **more), arguments,
           lambda: None)


def measure(options, torch, clock, case):
    import tessera
    from cliffs import LONGEST_MS, MOST_COPIES, Side, first_line
    tensors = make_tensors(torch, case, clock.device)
    program = tessera.compile(make_program(case), target=options.target, file="decode.mlir")
    wanted = 2 * clock.cache / case.bytes + 2
    count = int(max(1, min(wanted, MOST_COPIES, clock.free_bytes() / 8 / case.bytes)))
    copies = [tensors] + [tuple(x.clone() for x in tensors) for _ in range(count - 1)]
    ours = Side(clock, program, copies)
    count = max(1, min(count, int(LONGEST_MS / max(ours.single, 1e-3))))
    ours.record(count)
    row = {"name": case.name, "bytes": case.bytes, "ways": {}}
    best = None
    for name, call, arguments, select in make_ways(torch, case, tensors):
        try:
            others = [arguments] + [tuple(x.clone() for x in arguments) for _ in range(count - 1)]
            side = Side(clock, call, others, select)
            side.record(count)
            milliseconds = side.time_replays(side.replays) / side.replays / count
        except Exception as error:  # A way that PyTorch does not offer for this form.
            row["ways"][name] = first_line(error)
            clock.synchronize()
            continue
        row["ways"][name] = round(milliseconds, 6)
        if not best or milliseconds < best[0]:
            best = (milliseconds, side, name)
    sides = [ours] + ([best[1]] if best else [])
    for _ in range(options.windows):
        for side in sides:
            side.select()
            side.time_window()
    for index in range(options.runs):
        for side in sides:
            side.select()
            side.queue_cold(index)
    clock.synchronize()
    row["ours"] = ours.get_times()
    if best:
        row["library"], row["way"] = best[1].get_times(), best[2]
    expected = evaluate(torch, case, tensors)
    error = (ours.results[-1].float() - expected).abs().max().item()
    # A result is a mean of values of magnitude one, whose weights are rounded.
    unit = {"bf16": 2 ** -8, "f16": 2 ** -11}[case.element]
    row.update(error=error, wrong=not error <= 4 * unit)
    return row


def write_results(options, about, rows):
    lines = [f"# Attention for decoding: {about}", "", f"Command: `benchmarks/decode.py {' '.join(sys.argv[1:])}`", "",
             "| case | us | GB/s | best of PyTorch | us | ratio | error |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        if "ours" not in row:
            lines.append(f"| {row['name']} | {row['failed']} | | | | | |")
            continue
        ours = row["ours"]["settled"]
        theirs = row["library"]["settled"] if "library" in row else None
        lines.append(f"| {row['name']} | {ours * 1e3:.1f} | {row['bytes'] / ours / 1e6:.0f} | {row.get('way', '')} | "
                     + (f"{theirs * 1e3:.1f} | {theirs / ours:.2f}" if theirs else " | ")
                     + f" | {row['error']:.2g}{' WRONG' if row['wrong'] else ''} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if options.output:
        os.makedirs(os.path.dirname(options.output) or ".", exist_ok=True)
        with open(options.output + ".md", "w") as file:
            file.write(text)
        with open(options.output + ".json", "w") as file:
            json.dump({"about": about, "rows": rows}, file, indent=1)


def measure_all(options):
    import torch

    import tessera
    from cliffs import CudaClock, first_line
    if not torch.cuda.is_available():
        print("decode.py: PyTorch finds no GPU; --check verifies the programs on the CPU", file=sys.stderr)
        return 1
    torch.manual_seed(0)
    clock = CudaClock(torch, graphs=True)
    device = tessera.Device.get("cuda")
    rows = []
    with torch.no_grad():
        for form in options.forms:
            for keys in options.keys:
                for batch, heads, group, queries in ((1, 8, 4, 1), (8, 8, 4, 1), (8, 32, 1, 1), (8, 8, 4, 4)):
                    case = Case(form, batch, heads, group, queries, keys, 128)
                    try:
                        row = measure(options, torch, clock, case)
                    except Exception as error:  # One case must not end the measurement of the others.
                        row = {"name": case.name, "failed": first_line(error)}
                    rows.append(row)
                    print(json.dumps(row), flush=True)
                    torch.cuda.empty_cache()
    about = f"{device.name} ({device.chip}), PyTorch {torch.__version__}, Tessera {tessera.__version__}"
    write_results(options, about, rows)
    return 1 if any("failed" in row or row["wrong"] for row in rows) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--forms", default=",".join(FORMS), help="of " + ",".join(FORMS))
    parser.add_argument("--keys", default="8192,32768")
    parser.add_argument("--windows", type=int, default=9)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--output", help="write OUTPUT.md and OUTPUT.json")
    parser.add_argument("--check", action="store_true", help="verify small programs on the CPU with --runner")
    parser.add_argument("--compile-only", action="store_true", help="compile small programs for --target")
    parser.add_argument("--runner", default="gpu-runner")
    options = parser.parse_args()
    options.forms = options.forms.split(",")
    options.keys = [int(keys) for keys in options.keys.split(",")]
    unknown = [form for form in options.forms if form not in FORMS]
    if unknown or not options.forms:
        parser.error(f"unknown form '{unknown[0]}': expected some of {', '.join(FORMS)}")
    return check_on_cpu(options) if options.check or options.compile_only else measure_all(options)


if __name__ == "__main__":
    sys.exit(main())
