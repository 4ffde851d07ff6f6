# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as operators of PyTorch, on the CPU, and on a GPU where there is one."""

import itertools

import numpy as np
import pytest
import tessera

torch = pytest.importorskip("torch")
import torch._dynamo.testing  # noqa: E402
import tessera.torch  # noqa: E402

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU")
GPU = "hip" if torch.version.hip else "cuda"
DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]

# c = a b^T in f64, or a b, or a^T b, by the maps of a and b.
PRODUCT = """
func.func @main(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c{m} : tensor<?x?xf64>
  %n = tensor.dim %b, %c{n} : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> {a}>, affine_map<(m, n, k) -> {b}>,
      affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%i : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}}
"""

SCALE = """
func.func @main(%x: memref<4x5xf32>, %factor: f32) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]} outs(%x : memref<4x5xf32>) {
  ^bb0(%e: f32):
    %s = arith.mulf %e, %factor : f32
    linalg.yield %s : f32
  }
  return
}
"""

STATIC = """
func.func @sum(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %e = tensor.empty() : tensor<4x5xf32>
  %s = linalg.add ins(%x, %y : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>)
      -> tensor<4x5xf32>
  %d = linalg.sub ins(%x, %y : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>)
      -> tensor<4x5xf32>
  return %s, %d : tensor<4x5xf32>, tensor<4x5xf32>
}
"""

count = itertools.count()


class Subclass(torch.Tensor):
    """Is read by its attributes."""



def new_name(name):
    """An operator is registered once in a process."""
    return f"tessera_test::{name}_{next(count)}"


def compile_for(device, text):
    return tessera.compile(text, target="cpu" if device == "cpu" else GPU)


@pytest.fixture(scope="module", params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(scope="module")
def linear(device):
    """x weight^T, with its derivative."""

    def product(name, m, n, a, b, **arguments):
        program = compile_for(device, PRODUCT.format(m=m, n=n, a=a, b=b))
        return tessera.torch.custom_op(
            program, new_name(name), arguments=("a", "b"),
            fake=lambda a, b: a.new_empty(a.shape[m], b.shape[n]), **arguments)

    of_input = product("of_input", 0, 1, "(m, k)", "(k, n)")
    of_weight = product("of_weight", 1, 1, "(k, m)", "(k, n)")

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        gradient = gradient.contiguous()
        return of_input(gradient, weight), of_weight(gradient, x)

    return product("linear", 0, 0, "(m, k)", "(n, k)", setup_context=setup_context, backward=backward)


def tensors(device, *shapes, requires_grad=False, dtype=torch.float64):
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(shape, generator=generator, dtype=dtype).to(device).requires_grad_(requires_grad)
            for shape in shapes]


def test_eager(linear, device):
    x, weight = tensors(device, (7, 5), (6, 5))
    torch.testing.assert_close(linear(x, weight), torch.nn.functional.linear(x, weight))


def test_gradients(linear, device):
    x, weight = tensors(device, (7, 5), (6, 5), requires_grad=True)
    assert torch.autograd.gradcheck(linear, (x, weight))
    upstream, = tensors(device, (7, 6))
    ours = torch.autograd.grad(linear(x, weight), (x, weight), upstream)
    theirs = torch.autograd.grad(torch.nn.functional.linear(x, weight), (x, weight), upstream)
    for own, other in zip(ours, theirs):
        torch.testing.assert_close(own, other)


def test_only_one_gradient(linear, device):
    x, weight = tensors(device, (7, 5), (6, 5))
    x.requires_grad_()
    linear(x, weight).sum().backward()
    torch.testing.assert_close(x.grad, weight.sum(0).expand(7, 5))
    assert weight.grad is None


def test_opcheck(linear, device):
    """PyTorch's own checks: schema, fake tensors, autograd registration, dynamic shapes."""
    x, weight = tensors(device, (7, 5), (6, 5), requires_grad=True)
    results = torch.library.opcheck(linear.overload, (x, weight))
    assert set(results.values()) == {"SUCCESS"}, results


class CallsOfDispatcher(torch.utils._python_dispatch.TorchDispatchMode):
    """Counts the operators that PyTorch's dispatcher runs."""

    def __init__(self):
        super().__init__()
        self.operators = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.operators.append(func)
        return func(*args, **(kwargs or {}))


def test_a_plain_call_skips_the_dispatcher(linear, device, monkeypatch):
    x, weight = tensors(device, (7, 5), (6, 5), requires_grad=True)
    expected = linear.overload(x, weight)
    gradients = torch.autograd.grad(expected.square().sum(), (x, weight))
    overload, calls = linear.overload, []
    monkeypatch.setattr(linear, "overload", lambda *arguments: calls.append(1) or overload(*arguments))
    ours = linear(x, weight)
    assert ours.requires_grad and not calls
    assert torch.equal(ours, expected)
    for own, other in zip(torch.autograd.grad(ours.square().sum(), (x, weight)), gradients):
        assert torch.equal(own, other)
    with torch.no_grad():
        assert not linear(x, weight).requires_grad
    assert not calls


def test_modes_and_transforms_see_the_operator(linear, device, monkeypatch):
    x, weight = tensors(device, (7, 5), (6, 5))
    with CallsOfDispatcher() as mode:
        linear(x, weight)
    assert linear.overload in mode.operators
    with torch._subclasses.fake_tensor.FakeTensorMode() as fake:
        result = linear(fake.from_tensor(x), fake.from_tensor(weight))
        assert type(result) is not torch.Tensor and result.shape == (7, 6)
    result = linear(x.to("meta"), weight.to("meta"))
    assert result.is_meta and result.shape == (7, 6)
    overload, calls = linear.overload, []
    monkeypatch.setattr(linear, "overload", lambda *arguments: calls.append(1) or overload(*arguments))
    with torch.autograd.profiler.profile():
        linear(x, weight)
    with torch.device(x.device):
        linear(x, weight)
    images = torch.stack([x, 2 * x])
    batch = torch.func.vmap(linear, in_dims=(0, None))(images, weight)
    torch.testing.assert_close(batch, torch.nn.functional.linear(images, weight))
    assert len(calls) == 3


@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=needs_gpu)])
def test_compile(linear, device, backend):
    def function(x, weight):
        return torch.relu(linear(x, weight)) + 1

    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend(backend)
    compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=True)
    for rows in (7, 9, 12):
        x, weight = tensors(device, (rows, 5), (6, 5), requires_grad=True)
        ours = compiled(x, weight)
        gradients = torch.autograd.grad(ours.square().sum(), (x, weight))
        theirs = torch.relu(torch.nn.functional.linear(x, weight)) + 1
        torch.testing.assert_close(ours, theirs)
        for own, other in zip(gradients, torch.autograd.grad(theirs.square().sum(), (x, weight))):
            torch.testing.assert_close(own, other)
    # One graph for all sizes.
    assert counter.frame_count == 1


def test_export(linear, device):
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(tensors(device, (6, 5))[0])

        def forward(self, x):
            return linear(x, self.weight) * 2

    module = Module()
    x, = tensors(device, (7, 5))
    exported = torch.export.export(module, (x,), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2)}})
    assert linear.overload in [node.target for node in exported.graph.nodes]
    x, = tensors(device, (11, 5))
    torch.testing.assert_close(exported.module()(x), 2 * torch.nn.functional.linear(x, module.weight))


def test_without_a_derivative(device):
    """The backward pass reports that there is none."""
    program = compile_for(device, STATIC)
    operator = tessera.torch.custom_op(program, new_name("sum"), arguments=["x", "y"])
    x, y = tensors(device, (4, 5), (4, 5), dtype=torch.float32)
    total, difference = operator(x, y)
    torch.testing.assert_close(total, x + y)
    torch.testing.assert_close(difference, x - y)
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="'tessera_test::sum_.*' has no derivative: pass backward="):
        operator(x, y)[0].sum().backward()
    # The fake results have the types of the program.
    shapes = torch.compile(lambda x, y: operator(x, y), backend="aot_eager", fullgraph=True)(x.detach(), y)
    assert [tuple(result.shape) for result in shapes] == [(4, 5), (4, 5)]
    with pytest.raises(RuntimeError, match=r"argument 1 \(tensor<4x5xf32>\): dimension 0 is 3"):
        operator(x.detach().to("meta"), y[:3].to("meta"))


def test_written_arguments(device):
    program = compile_for(device, SCALE)
    scale = tessera.torch.custom_op(program, new_name("scale"), arguments=("x", "factor"))
    assert str(scale.overload._schema).endswith("(Tensor(a!) x, float factor) -> ()")
    x, = tensors(device, (4, 5), dtype=torch.float32)
    expected, version = x * 1.5, x._version
    assert scale(x, 1.5) is None
    torch.testing.assert_close(x, expected)
    assert x._version == version + 1

    def function(x):
        y = x + 1
        scale(y, 2.0)
        return y

    torch.testing.assert_close(torch.compile(function, backend="aot_eager", fullgraph=True)(x), (x + 1) * 2)
    with pytest.raises(RuntimeError, match="argument 0 of 'tessera_test::scale_.*' requires a gradient"):
        scale(x.clone().requires_grad_(), 2.0)
    with pytest.raises(ValueError, match="writes its arguments, so that it has no derivative"):
        tessera.torch.custom_op(program, new_name("scale"), backward=lambda ctx: None)
    # A tensor that the backward pass reads must not be written.
    leaf = x.clone().requires_grad_()
    y = leaf * 1
    z = y.square().sum()
    with torch.no_grad():
        scale(y.detach(), 2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_programs_for_shapes(device):
    made = []

    def specialize(x, y, bias):
        made.append((x.shape, bias is not None))
        columns = x.shape[1]
        arguments, extra = f"%x: tensor<?x{columns}xf32>, %y: tensor<?x{columns}xf32>", ""
        value = "%s"
        if bias is not None:
            arguments += f", %bias: tensor<?x{columns}xf32>"
            extra = f"""
  %t = linalg.add ins(%s, %bias : tensor<?x{columns}xf32>, tensor<?x{columns}xf32>)
      outs(%e : tensor<?x{columns}xf32>) -> tensor<?x{columns}xf32>"""
            value = "%t"
        return compile_for(device, f"""
func.func @main({arguments}) -> tensor<?x{columns}xf32> {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x{columns}xf32>
  %e = tensor.empty(%rows) : tensor<?x{columns}xf32>
  %s = linalg.add ins(%x, %y : tensor<?x{columns}xf32>, tensor<?x{columns}xf32>)
      outs(%e : tensor<?x{columns}xf32>) -> tensor<?x{columns}xf32>{extra}
  return {value} : tensor<?x{columns}xf32>
}}""")

    add = tessera.torch.custom_op(specialize, new_name("add"),
                                  schema="(Tensor x, Tensor y, Tensor? bias) -> Tensor",
                                  fake=lambda x, y, bias: torch.empty_like(x))
    x, y = tensors(device, (4, 6), (4, 6), dtype=torch.float32)
    for _ in range(2):
        torch.testing.assert_close(add(x, y, None), x + y)
        torch.testing.assert_close(add(x, y, x), x + y + x)
    assert made == [(x.shape, False), (x.shape, True)]
    compiled = torch.compile(lambda x, y: add(x, y, None), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, y), x + y)
    torch.testing.assert_close(add(x[:2], y[:2], None), x[:2] + y[:2])
    assert len(made) == 3


def test_programs_for_forms_of_arguments(device):
    """Each combination of sizes, element type and numbers has a program of its own, made once."""
    made = []

    def specialize(x, factor, extra):
        made.append((x.dtype, tuple(x.shape), repr(factor), extra))
        form = f"tensor<{x.shape[0]}x{x.shape[1]}xf{8 * x.itemsize}>"
        number = "" if extra is None else ", %extra: i64"
        return compile_for(device, f"""
func.func @main(%x: {form}, %factor: f64{number}) -> {form} {{
  %e = tensor.empty() : {form}
  %c = arith.constant {float(factor) * (extra or 1)} : f{8 * x.itemsize}
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%x : {form}) outs(%e : {form}) {{
  ^bb0(%in: f{8 * x.itemsize}, %out: f{8 * x.itemsize}):
    %s = arith.mulf %in, %c : f{8 * x.itemsize}
    linalg.yield %s : f{8 * x.itemsize}
  }} -> {form}
  return %r : {form}
}}""")

    run = tessera.torch._Programs(specialize, None)
    x, = tensors(device, (4, 6))
    cases = [(x, 2.0, None), (x, 2, None), (x, True, None), (x, 0.0, None), (x, -0.0, None), (x, 2.0, 1),
             (x, 2.0, 3), (x.float(), 2.0, None), (x[:2], 2.0, None), (x.reshape(6, 4), 2.0, None)]
    for _ in range(3):
        for case in cases:
            own, factor, extra = case
            expected = own * (float(factor) * (extra or 1))
            assert torch.equal(run(*case), expected), case
            assert torch.equal(torch.signbit(run(*case)), torch.signbit(expected)), case
    assert len(made) == len(set(made)) == len(cases)
    # Tensors that are read by their attributes, and numbers of other packages.
    for own, factor in ((x.as_subclass(Subclass), 2.0), (x, np.float64(2))):
        assert torch.equal(run(own, factor, None), x * 2)
    known = len(made)
    run(x.as_subclass(Subclass), 2.0, None)
    assert len(made) == known
    with pytest.raises(TypeError, match="argument 1"):
        run(x, "2.0", None)


def test_mistakes_are_reported(device):
    program = compile_for(device, PRODUCT.format(m=0, n=0, a="(m, k)", b="(n, k)"))
    custom_op = tessera.torch.custom_op
    with pytest.raises(ValueError, match=r"result 0 \(tensor<\?x\?xf64>\) has a dynamic size: pass fake="):
        custom_op(program, new_name("op"))
    with pytest.raises(ValueError, match="'op' is not of the form 'namespace::operator'"):
        custom_op(program, "op")
    with pytest.raises(ValueError, match="takes 2 arguments, but 1 names"):
        custom_op(program, new_name("op"), arguments=["a"])
    with pytest.raises(ValueError, match="no entry point 'mane': the program has main"):
        custom_op(program, new_name("op"), entry="mane")
    with pytest.raises(ValueError, match="requires schema= and fake="):
        custom_op(lambda x: program, new_name("op"))
    name = new_name("op")
    operator = custom_op(program, name, fake=lambda a, b: a.new_empty(a.shape[0], b.shape[0]))
    with pytest.raises(ValueError, match="already registered"):
        custom_op(program, name, fake=lambda a, b: a)
    scalar = compile_for("cpu", "func.func @main(%x: f32) -> f32 {\n  return %x : f32\n}")
    with pytest.raises(ValueError, match=r"result 0 \(f32\) is a scalar"):
        custom_op(scalar, new_name("op"))
    a, b = tensors(device, (8, 6), (7, 8))
    with pytest.raises(tessera.Error, match="pass a dense copy"):
        operator(a.T, b)
    with pytest.raises(TypeError, match="float32, but the program expects float64"):
        operator(a.float(), b)


@needs_gpu
def test_a_graph_of_the_device(linear, device):
    """Forward and backward are captured, and replayed on other contents."""
    if device == "cpu":
        pytest.skip("the CPU has no graphs")
    x, weight = tensors("cuda", (64, 32), (48, 32), requires_grad=True)
    upstream, = tensors("cuda", (64, 48))

    def run():
        y = linear(x, weight)
        return (y, *torch.autograd.grad(y, (x, weight), upstream))

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = run()
    for seed in range(3):
        with torch.no_grad():
            for tensor in (x, weight, upstream):
                tensor.copy_(torch.randn(tensor.shape, dtype=tensor.dtype))
        graph.replay()
        for own, other in zip(captured, run()):
            torch.testing.assert_close(own, other, rtol=0, atol=0)
