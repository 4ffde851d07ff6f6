# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PyTorch linear layer, computed by Tessera: `TesseraLinear` in place of `torch.nn.Linear`.

    python3 linear.py            # on the GPU of this machine

Forward and backward are three programs, each one kernel: y = x w^T + b, dx = dy w, dw = dy^T x. They use
PyTorch's tensors in place, in its current stream. Without arguments the script replaces the layers of a small
network, compares outputs and gradients with PyTorch's, and times both.
"""

import sys

import torch

import tessera

TYPES = {torch.float16: "f16", torch.bfloat16: "bf16"}

# The maps of the two operands, over (rows of the result, its columns, the summed dimension).
FORMS = {
    "forward": ("(m, k)", "(n, k)"),
    "input": ("(m, k)", "(k, n)"),
    "weight": ("(k, m)", "(k, n)"),
}


def make_source(form: str, dtype: torch.dtype, rows: int, columns: int, depth: int,
                has_bias: bool) -> str:
    """result = a b, with the sums in f32, plus a bias for each column where there is one."""
    t = TYPES[dtype]
    maps = FORMS[form]
    sizes = {"m": rows, "n": columns, "k": depth}
    a, b = ["x".join(str(sizes[dim]) for dim in spec.strip("()").split(", ")) for spec in maps]
    bias = f", %bias: memref<{columns}x{t}>" if has_bias else ""
    loads = (f"  %tbias = bufferization.to_tensor %bias restrict : memref<{columns}x{t}> "
             f"to tensor<{columns}x{t}>\n" if has_bias else "")
    extra_map = "affine_map<(m, n) -> (n)>, " if has_bias else ""
    extra_in = f", %tbias : tensor<{rows}x{columns}xf32>, tensor<{columns}x{t}>" if has_bias else (
        f" : tensor<{rows}x{columns}xf32>")
    block = f", %e: {t}" if has_bias else ""
    add = ("    %wide = arith.extf %e : {0} to f32\n"
           "    %sum = arith.addf %d, %wide : f32\n".format(t)) if has_bias else ""
    value = "%sum" if has_bias else "%d"
    return f"""
func.func @main(%a: memref<{a}x{t}>, %b: memref<{b}x{t}>{bias}, %out: memref<{rows}x{columns}x{t}>) {{
  %ta = bufferization.to_tensor %a restrict : memref<{a}x{t}> to tensor<{a}x{t}>
  %tb = bufferization.to_tensor %b restrict : memref<{b}x{t}> to tensor<{b}x{t}>
{loads}  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{rows}x{columns}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{rows}x{columns}xf32>)
      -> tensor<{rows}x{columns}xf32>
  %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> {maps[0]}>,
      affine_map<(m, n, k) -> {maps[1]}>, affine_map<(m, n, k) -> (m, n)>]
      ins(%ta, %tb : tensor<{a}x{t}>, tensor<{b}x{t}>)
      outs(%init : tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %narrow = tensor.empty() : tensor<{rows}x{columns}x{t}>
  %result = linalg.generic {{
      indexing_maps = [affine_map<(m, n) -> (m, n)>, {extra_map}affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%product{extra_in}) outs(%narrow : tensor<{rows}x{columns}x{t}>) {{
  ^bb0(%d: f32{block}, %o: {t}):
{add}    %rounded = arith.truncf {value} : f32 to {t}
    linalg.yield %rounded : {t}
  }} -> tensor<{rows}x{columns}x{t}>
  bufferization.materialize_in_destination %result in restrict writable %out
      : (tensor<{rows}x{columns}x{t}>, memref<{rows}x{columns}x{t}>) -> ()
  return
}}
"""


_entries = {}


def multiply(form, a, b, bias, rows, columns, depth):
    """One of the three matmuls, compiled when its shape first occurs."""
    key = form, a.dtype, rows, columns, depth, bias is not None, a.get_device()
    entry = _entries.get(key)
    if entry is None:
        target = "hip" if torch.version.hip else "cuda"
        program = tessera.compile(
            make_source(form, a.dtype, rows, columns, depth, bias is not None), target=target,
            file=f"linear-{form}.mlir")
        entry = _entries[key] = program.entry(
            device=tessera.Device.get(target, a.get_device()))
    out = torch.empty((rows, columns), dtype=a.dtype, device=a.device)
    entry(*([a, b] if bias is None else [a, b, bias]), out)
    return out


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        rows, depth = x.shape
        columns = weight.shape[0]
        return multiply("forward", x.detach(), weight.detach(),
                        None if bias is None else bias.detach(), rows, columns, depth)

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        gradient = gradient.contiguous()
        (rows, depth), columns = x.shape, weight.shape[0]
        dx = dw = db = None
        if ctx.needs_input_grad[0]:
            dx = multiply("input", gradient, weight.detach(), None, rows, depth, columns)
        if ctx.needs_input_grad[1]:
            dw = multiply("weight", gradient, x.detach(), None, columns, depth, rows)
        if ctx.has_bias and ctx.needs_input_grad[2]:
            db = gradient.sum(0)
        return dx, dw, db


class TesseraLinear(torch.nn.Linear):
    """`torch.nn.Linear` of f16 or bf16 on a GPU."""

    def forward(self, x):
        flat = x.reshape(-1, self.in_features).contiguous()
        return LinearFunction.apply(flat, self.weight, self.bias).reshape(
            *x.shape[:-1], self.out_features)


def replace_linear(module: torch.nn.Module) -> int:
    """Replaces the linear layers below `module`; gives how many. They share their parameters."""
    count = 0
    for name, child in module.named_children():
        if type(child) is torch.nn.Linear:
            child.__class__ = TesseraLinear
            count += 1
        else:
            count += replace_linear(child)
    return count


def measure(body, runs=50):
    """The median of the GPU's time in milliseconds."""
    for _ in range(5):
        body()
    times = []
    for _ in range(runs):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        body()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[runs // 2]


def main() -> int:
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    network = torch.nn.Sequential(
        torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)
    ).to("cuda", torch.bfloat16)
    x = torch.randn(8, 512, 1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    upstream = torch.randn_like(x)

    def run():
        network.zero_grad()
        x.grad = None
        y = network(x)
        y.backward(upstream)
        return [y.detach(), x.grad] + [p.grad for p in network.parameters()]

    def infer():
        with torch.no_grad():
            return network(x)

    expected = [t.clone() for t in run()]
    exact = [t.clone() for t in reference(network, x, upstream)]
    theirs = measure(run), measure(infer)
    print(f"replaced {replace_linear(network)} layers")
    given = run()
    ours = measure(run), measure(infer)
    worst = 0
    names = ["output", "input's gradient"] + [name for name, _ in network.named_parameters()]
    for name, mine, torchs, right in zip(names, given, expected, exact):
        # How far each is from f64, in units of the largest element.
        scale = right.abs().max()
        errors = [((t.double() - right).abs().max() / scale).item() for t in (mine, torchs)]
        print(f"{name}: error {errors[0]:.2e}, PyTorch's {errors[1]:.2e}")
        worst = max(worst, errors[0] / max(errors[1], 2.0 ** -9))
    print(f"forward and backward: {ours[0]:.3f} ms, PyTorch {theirs[0]:.3f}")
    print(f"forward: {ours[1]:.3f} ms, PyTorch {theirs[1]:.3f}")
    print("right" if worst < 2 else f"WRONG: {worst:.1f} times PyTorch's error")
    return 0 if worst < 2 else 1


def reference(network, x, upstream):
    """The same in f64."""
    import copy

    double = copy.deepcopy(network).double()
    own = x.detach().double().requires_grad_()
    y = double(own)
    y.backward(upstream.double())
    return [y.detach(), own.grad] + [p.grad for p in double.parameters()]


if __name__ == "__main__":
    sys.exit(main())
