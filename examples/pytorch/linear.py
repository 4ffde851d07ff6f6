# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PyTorch linear layer, computed by Tessera: `TesseraLinear` in place of `torch.nn.Linear`.

    python3 linear.py                        # on the GPU of this machine
    python3 linear.py --sizes=1024,2048      # other sizes
    python3 linear.py --device=cpu --sizes=64 --rows=32

Forward is an operator of PyTorch of one kernel, y = x w^T + b; backward another one of three results,
dx = dy w, dw = dy^T x and the sum of the rows of dy. They use PyTorch's tensors in place, in its current stream, and work in torch.compile and CUDA graphs. The
script replaces the layers of a small network, compares outputs and gradients with PyTorch's, and times both
in turns: passes with a wait after each, passes in a row (as in training), and as a CUDA graph.
"""

import argparse
import copy
import sys
import time

import torch

import tessera
import tessera.torch

TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}

# The maps of the two operands, over (rows of the result, its columns, the summed dimension).
FORMS = {
    "forward": ("(m, k)", "(n, k)"),
    "input": ("(m, k)", "(k, n)"),
    "weight": ("(k, m)", "(k, n)"),
}


def make_matmul(form: str, dtype: torch.dtype, rows: int, columns: int, depth: int, a: str, b: str,
                has_bias: bool = False):
    """The types of the operands %a and %b, the ops, and the type of the result %form = a b, with the sums in
    f32, plus a bias for each column where there is one."""
    t = TYPES[dtype]
    sizes = {"m": rows, "n": columns, "k": depth}
    maps = FORMS[form]
    of_a, of_b = (f"tensor<{'x'.join(str(sizes[dim]) for dim in spec.strip('()').split(', '))}x{t}>"
                  for spec in maps)
    wide, narrow = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x{columns}x{t}>"
    extra_map = "affine_map<(m, n) -> (n)>, " if has_bias else ""
    extra_in = f", %bias : {wide}, tensor<{columns}x{t}>" if has_bias else f" : {wide}"
    block = f", %e: {t}" if has_bias else ""
    add = (f"    %extended = arith.extf %e : {t} to f32\n"
           "    %sum = arith.addf %d, %extended : f32\n") if has_bias else ""
    value = "%sum" if has_bias else "%d"
    return of_a, of_b, f"""
  %zero_{form} = arith.constant 0.0 : f32
  %empty_{form} = tensor.empty() : {wide}
  %init_{form} = linalg.fill ins(%zero_{form} : f32) outs(%empty_{form} : {wide}) -> {wide}
  %product_{form} = linalg.contract indexing_maps = [affine_map<(m, n, k) -> {maps[0]}>,
      affine_map<(m, n, k) -> {maps[1]}>, affine_map<(m, n, k) -> (m, n)>]
      ins({a}, {b} : {of_a}, {of_b}) outs(%init_{form} : {wide}) -> {wide}
  %narrow_{form} = tensor.empty() : {narrow}
  %{form} = linalg.generic {{
      indexing_maps = [affine_map<(m, n) -> (m, n)>, {extra_map}affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%product_{form}{extra_in}) outs(%narrow_{form} : {narrow}) {{
  ^bb0(%d: f32{block}, %o: {t}):
{add}    %rounded = arith.truncf {value} : f32 to {t}
    linalg.yield %rounded : {t}
  }} -> {narrow}
""", narrow


def make_source(form: str, dtype: torch.dtype, rows: int, columns: int, depth: int,
                has_bias: bool) -> str:
    """The program of one matmul."""
    of_a, of_b, ops, result = make_matmul(form, dtype, rows, columns, depth, "%a", "%b", has_bias)
    bias = f", %bias: tensor<{columns}x{TYPES[dtype]}>" if has_bias else ""
    return f"""
func.func @main(%a: {of_a}, %b: {of_b}{bias}) -> {result} {{{ops}
  return %{form} : {result}
}}
"""


def make_sum(dtype: torch.dtype, rows: int, columns: int):
    """The ops and the type of the sum of the rows of %dy, in f32."""
    t = TYPES[dtype]
    wide, narrow = f"tensor<{columns}xf32>", f"tensor<{columns}x{t}>"
    return f"""
  %zero_sum = arith.constant 0.0 : f32
  %empty_sum = tensor.empty() : {wide}
  %init_sum = linalg.fill ins(%zero_sum : f32) outs(%empty_sum : {wide}) -> {wide}
  %wide_sum = linalg.generic {{
      indexing_maps = [affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (n)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%dy : tensor<{rows}x{columns}x{t}>) outs(%init_sum : {wide}) {{
  ^bb0(%e: {t}, %sum: f32):
    %extended = arith.extf %e : {t} to f32
    %next = arith.addf %sum, %extended : f32
    linalg.yield %next : f32
  }} -> {wide}
  %narrow_sum = tensor.empty() : {narrow}
  %sum = linalg.generic {{
      indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}}
      ins(%wide_sum : {wide}) outs(%narrow_sum : {narrow}) {{
  ^bb0(%s: f32, %o: {t}):
    %rounded = arith.truncf %s : f32 to {t}
    linalg.yield %rounded : {t}
  }} -> {narrow}
""", narrow


def make_gradients(dtype: torch.dtype, rows: int, inputs: int, outputs: int, has_bias: bool) -> str:
    """The program of both gradients, and of the bias's where there is one."""
    gradient, weight, of_input, dx = make_matmul("input", dtype, rows, inputs, outputs, "%dy", "%w")
    _, x, of_weight, dw = make_matmul("weight", dtype, outputs, inputs, rows, "%dy", "%x")
    of_bias, db = make_sum(dtype, rows, outputs) if has_bias else ("", "")
    values, types = "%input, %weight", f"{dx}, {dw}"
    if has_bias:
        values, types = f"{values}, %sum", f"{types}, {db}"
    return f"""
func.func @main(%dy: {gradient}, %x: {x}, %w: {weight}) -> ({types}) {{{of_input}{of_weight}{of_bias}
  return {values} : {types}
}}
"""


def compile_for(tensor, source, name):
    target = "cpu" if not tensor.is_cuda else "hip" if torch.version.hip else "cuda"
    return tessera.compile(source, target=target, file=f"linear-{name}.mlir")


def compile_matmul(form, a, rows, columns, depth, has_bias=False):
    """The program of one of the three matmuls, for one shape."""
    return compile_for(a, make_source(form, a.dtype, rows, columns, depth, has_bias), form)


# Programs have static sizes: each operator requests one when a shape first occurs.
linear_input = tessera.torch.custom_op(
    lambda gradient, weight: compile_matmul(
        "input", gradient, gradient.shape[0], weight.shape[1], weight.shape[0]),
    "tessera_example::linear_input", schema="(Tensor gradient, Tensor weight) -> Tensor",
    fake=lambda gradient, weight: gradient.new_empty(gradient.shape[0], weight.shape[1]))

linear_weight = tessera.torch.custom_op(
    lambda gradient, x: compile_matmul(
        "weight", gradient, gradient.shape[1], x.shape[1], x.shape[0]),
    "tessera_example::linear_weight", schema="(Tensor gradient, Tensor x) -> Tensor",
    fake=lambda gradient, x: gradient.new_empty(gradient.shape[1], x.shape[1]))

linear_gradients = tessera.torch.custom_op(
    lambda gradient, x, weight: compile_for(
        x, make_gradients(x.dtype, x.shape[0], x.shape[1], weight.shape[0], False), "gradients"),
    "tessera_example::linear_gradients",
    schema="(Tensor gradient, Tensor x, Tensor weight) -> (Tensor, Tensor)",
    fake=lambda gradient, x, weight: (torch.empty_like(x), torch.empty_like(weight)))

linear_all_gradients = tessera.torch.custom_op(
    lambda gradient, x, weight: compile_for(
        x, make_gradients(x.dtype, x.shape[0], x.shape[1], weight.shape[0], True), "all-gradients"),
    "tessera_example::linear_all_gradients",
    schema="(Tensor gradient, Tensor x, Tensor weight) -> (Tensor, Tensor, Tensor)",
    fake=lambda gradient, x, weight: (torch.empty_like(x), torch.empty_like(weight),
                                      gradient.new_empty(weight.shape[0])))


def setup_context(ctx, inputs, output):
    x, weight, bias = inputs
    ctx.save_for_backward(x, weight)
    ctx.has_bias = bias is not None


def backward(ctx, gradient):
    x, weight = ctx.saved_tensors
    gradient = gradient.contiguous()
    needs_dx, needs_dw, needs_db = ctx.needs_input_grad
    dx = dw = None
    needs_db = needs_db and ctx.has_bias
    if needs_dx and needs_dw and needs_db:
        return linear_all_gradients(gradient, x, weight)
    if needs_dx and needs_dw:
        dx, dw = linear_gradients(gradient, x, weight)
    elif needs_dx:
        dx = linear_input(gradient, weight)
    elif needs_dw:
        dw = linear_weight(gradient, x)
    db = gradient.sum(0) if needs_db else None
    return dx, dw, db


linear = tessera.torch.custom_op(
    lambda x, weight, bias: compile_matmul(
        "forward", x, x.shape[0], weight.shape[0], x.shape[1], bias is not None),
    "tessera_example::linear", schema="(Tensor x, Tensor weight, Tensor? bias) -> Tensor",
    fake=lambda x, weight, bias: x.new_empty(x.shape[0], weight.shape[0]),
    backward=backward, setup_context=setup_context)


class TesseraLinear(torch.nn.Linear):
    """`torch.nn.Linear` of f16 or bf16."""

    def forward(self, x):
        if x.dim() == 2:
            return linear(x.contiguous(), self.weight, self.bias)
        flat = x.reshape(-1, self.in_features).contiguous()
        return linear(flat, self.weight, self.bias).reshape(*x.shape[:-1], self.out_features)


def replace_linear(module: torch.nn.Module) -> int:
    """Replaces the linear layers below `module`; returns how many. They share their parameters."""
    count = 0
    for name, child in module.named_children():
        if type(child) is torch.nn.Linear:
            child.__class__ = TesseraLinear
            count += 1
        else:
            count += replace_linear(child)
    return count


def measure(bodies, device, passes, runs=15):
    """The medians of the time of one pass of each body, measured in turns, in milliseconds: on the GPU, or
    of the host for the CPU. A run is so many passes without a wait between them."""
    times = [[] for _ in bodies]
    for run in range(runs + 2):
        for body, own in zip(bodies, times):
            if device == "cpu":
                start = time.perf_counter()
                for _ in range(passes):
                    body()
                spent = (time.perf_counter() - start) * 1e3
            else:
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                torch.cuda.synchronize()
                begin.record()
                for _ in range(passes):
                    body()
                end.record()
                end.synchronize()
                spent = begin.elapsed_time(end)
            # The first runs are the warm-up.
            if run >= 2:
                own.append(spent / passes)
    return [sorted(own)[runs // 2] for own in times]


def capture(body):
    """The body as a CUDA graph: a function that replays it, and its results."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            body()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = body()
    return graph.replay, results


def reference(network, x, upstream):
    """The same in f64."""
    double = copy.deepcopy(network).double()
    own = x.detach().double().requires_grad_()
    y = double(own)
    y.backward(upstream.double())
    return [y.detach(), own.grad] + [p.grad for p in double.parameters()]


def check(network, x, upstream, run) -> bool:
    """Compares outputs and gradients, before and after the layers are replaced, with f64."""
    expected = [t.clone() for t in run()]
    exact = [t.clone() for t in reference(network, x, upstream)]
    print(f"replaced {replace_linear(network)} layers")
    given = run()
    worst = 0
    names = ["output", "input's gradient"] + [name for name, _ in network.named_parameters()]
    for name, mine, torchs, right in zip(names, given, expected, exact):
        # How far each is from f64, in units of the largest element.
        scale = right.abs().max()
        errors = [((t.double() - right).abs().max() / scale).item() for t in (mine, torchs)]
        print(f"{name}: error {errors[0]:.2e}, PyTorch's {errors[1]:.2e}")
        worst = max(worst, errors[0] / max(errors[1], 2.0 ** -9))
    print("right" if worst < 2 else f"WRONG: {worst:.1f} times PyTorch's error")
    return worst < 2


def make_step(network, x, upstream):
    """A forward and backward pass that returns the output and all gradients."""
    parameters = list(network.parameters())

    def run():
        y = network(x)
        return [y.detach(), *torch.autograd.grad(y, [x, *parameters], upstream)]

    return run


def time_size(size, rows, dtype, device):
    """One layer of size x size: the times of PyTorch's and of Tessera's forward and backward pass."""
    x = torch.randn(rows or size, size, device=device, dtype=dtype, requires_grad=True)
    upstream = torch.randn(rows or size, size, device=device, dtype=dtype)
    layers = [kind(size, size).to(device, dtype) for kind in (torch.nn.Linear, TesseraLinear)]
    steps = [make_step(layer, x, upstream) for layer in layers]
    columns = [("one at a time", measure(steps, device, passes=1)),
               ("in a row", measure(steps, device, passes=20))]
    if device != "cpu":
        # The results must stay: replays write them.
        graphs = [capture(step) for step in steps]
        columns.append(("as a graph", measure([replay for replay, _ in graphs], device, passes=20)))
    text = "; ".join(f"{name} {mine:.3f} ms, PyTorch {torchs:.3f}" for name, (torchs, mine) in columns)
    print(f"{size:6} {TYPES[dtype]:5} forward and backward: {text}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", default="1024,2048,4096,8192")
    parser.add_argument("--rows", type=int, default=0, help="rows of the input; the size unless given")
    options = parser.parse_args()
    device = options.device
    sizes = [int(size) for size in options.sizes.split(",")]
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    width = sizes[0]
    network = torch.nn.Sequential(
        torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
    ).to(device, torch.bfloat16)
    x = torch.randn(8, (options.rows or 512), width, device=device, dtype=torch.bfloat16,
                    requires_grad=True)
    upstream = torch.randn_like(x)
    right = check(network, x, upstream, make_step(network, x, upstream))
    # The operators are part of a compiled graph.
    compiled = torch.compile(network, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), network(x), rtol=0, atol=0)
    for dtype in TYPES:
        for size in sizes:
            time_size(size, options.rows, dtype, device)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
