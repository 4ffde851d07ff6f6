# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch as programs: torch.compile(backend="tessera") and tessera.torch.load."""

import logging
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript", reason="PyTorch's ONNX exporter needs the package onnxscript")

import tessera  # noqa: E402
import tessera.torch  # noqa: E402

F = torch.nn.functional
STRICT = {"fallback": False}


class Net(torch.nn.Module):
    """A convolution, batch normalization, a pool and a linear layer, which use a buffer."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(1, 2)
        self.linear = torch.nn.Linear(8 * 16, 10)
        self.register_buffer("scale", torch.rand(10), persistent=False)

    def forward(self, x):
        x = F.adaptive_avg_pool2d(torch.relu(self.norm(self.conv(x))), 4)
        return torch.softmax(self.linear(x.flatten(1)) * self.scale, -1)


class Attention(torch.nn.Module):
    """An encoder layer of a transformer."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.heads, self.qkv, self.out = 2, torch.nn.Linear(16, 48), torch.nn.Linear(16, 16)
        self.norm = torch.nn.LayerNorm(16)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape))
        return x + F.gelu(x)


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    # PyTorch looks for CUDA, whose driver may be too old.
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="CUDA initialization")
        yield


def compile_strictly(module, **arguments):
    return torch.compile(module, backend="tessera", options=STRICT, **arguments)


def check(compiled, module, *inputs):
    torch.testing.assert_close(compiled(*inputs), module(*inputs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make, shape", [(Net, (2, 3, 16, 16)), (Attention, (2, 5, 16))])
def test_modules(make, shape):
    module = make().eval()
    check(compile_strictly(module), module, torch.randn(shape))


def test_parameters_are_shared():
    module = Net().eval()
    compiled = compile_strictly(module)
    x = torch.randn(2, 3, 16, 16)
    before = compiled(x)
    module.linear.weight.mul_(3)
    module.norm.running_mean.add_(0.5)
    check(compiled, module, x)
    assert not torch.allclose(before, compiled(x))


def test_a_dynamic_batch_is_compiled_once(caplog):
    module = Net().eval()
    compiled = compile_strictly(module)
    with caplog.at_level(logging.INFO, "tessera.torch"):
        for batch in (2, 5, 7, 11, 3):
            check(compiled, module, torch.randn(batch, 3, 16, 16))
    # For the first size, and for all others.
    assert [record.getMessage().startswith("a graph of") for record in caplog.records] == [True, True]


def test_sizes_that_must_be_constant_are_compiled_one_by_one(caplog):
    module = Attention().eval()
    compiled = compile_strictly(module, dynamic=True)
    with caplog.at_level(logging.INFO, "tessera.torch"):
        for shape in ((2, 5, 16), (3, 7, 16), (2, 5, 16)):
            check(compiled, module, torch.randn(shape))
    compilations = [record for record in caplog.records if "compiled in" in record.getMessage()]
    assert len(compilations) in (1, 2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_element_types(dtype):
    module = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.ReLU()).to(dtype).eval()
    x = torch.randn(3, 6, dtype=dtype)
    result = compile_strictly(module)(x)
    assert result.dtype == dtype
    torch.testing.assert_close(result, module(x), rtol=1e-2, atol=1e-2)


def test_integers_and_several_results():
    def function(x, y):
        return x + y, x > y, x

    compiled = compile_strictly(function)
    x, y = torch.tensor([1, 200], dtype=torch.uint8), torch.tensor([3, 50], dtype=torch.uint8)
    total, greater, same = compiled(x, y)
    assert total.dtype == torch.uint8 and total.tolist() == [4, 250]
    assert greater.dtype == torch.bool and greater.tolist() == [False, True]
    assert same is x


def test_strides_are_those_of_dense_arrays():
    compiled = compile_strictly(lambda x: x * 2 + 1)
    x = torch.randn(4, 6).t()
    torch.testing.assert_close(compiled(x), x * 2 + 1)


@pytest.mark.parametrize("function, name", [
    # The importer rejects the first, and PyTorch's exporter the second.
    (lambda x: torch.fft.rfft(x).abs() + 1, "operators of ONNX that are not supported: DFT"),
    (lambda x: torch.special.bessel_j0(x) + 1, r"operators without a form in ONNX: .*bessel_j0"),
])
def test_unsupported_operators_are_left_to_pytorch(function, name):
    x = torch.randn(3, 8)
    with pytest.warns(tessera.torch.FallbackWarning, match=f"left to PyTorch: {name}"):
        torch.testing.assert_close(torch.compile(function, backend="tessera")(x), function(x))
    torch._dynamo.reset()
    with pytest.raises(Exception, match=f"UnsupportedError: a graph cannot be compiled: {name}"):
        compile_strictly(function)(x)


def find_compiled(caplog):
    """How many nodes of ONNX the compiled graphs have, in order."""
    return [int(record.getMessage().split()[3]) for record in caplog.records
            if "compiled in" in record.getMessage()]


def test_supported_parts_are_compiled(caplog):
    def function(x, w):
        y = torch.relu(x @ w)
        a, b = torch.special.bessel_j0(y).chunk(2, -1)
        return torch.fft.rfft(a + b).abs() * 2 + 1, y * 3

    compiled = torch.compile(function, backend="tessera")
    x, w = torch.randn(4, 8), torch.randn(8, 8)
    with caplog.at_level(logging.INFO, "tessera.torch"):
        with pytest.warns(tessera.torch.FallbackWarning) as record:
            results = compiled(x, w)
    for result, expected in zip(results, function(x, w)):
        torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
    # The complex result is the reason for the third.
    text, = [str(warning.message) for warning in record]
    assert text.startswith("tessera: 3 of the 12 operators of a graph are left to PyTorch: ")
    for reason in ("operators without a form in ONNX: prims.bessel_j0.default",
                   "operators of ONNX that are not supported: DFT", "'fft_rfft' is complex"):
        assert reason in text
    # Multiplication, activation and the second result; the halves and their sum; the end.
    assert len(find_compiled(caplog)) == 3
    # Nothing is compiled, and nothing reported, a second time.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = compiled(x + 1, w)
    torch.testing.assert_close(results[0], function(x + 1, w)[0], rtol=1e-5, atol=1e-5)
    torch._dynamo.reset()
    with pytest.raises(Exception, match="UnsupportedError: a graph cannot be compiled: .*bessel_j0"):
        compile_strictly(function)(x, w)


def test_parts_have_dynamic_sizes(caplog):
    def function(x):
        y = torch.special.bessel_j0(torch.exp(x) + 1)
        return y.sum(-1) * 2

    compiled = torch.compile(function, backend="tessera")
    with caplog.at_level(logging.INFO, "tessera.torch"), warnings.catch_warnings():
        warnings.simplefilter("ignore", tessera.torch.FallbackWarning)
        for size in (2, 5, 7, 3):
            check(compiled, function, torch.randn(size, 6))
    # Two parts, for the first size and for all others.
    assert len(find_compiled(caplog)) == 4


def test_sizes_and_views_pass_between_parts():
    def function(x):
        y = torch.special.bessel_j0(x.view(-1, 4))
        return y.view(x.shape[0], -1).t() + 1

    compiled = torch.compile(function, backend="tessera", dynamic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tessera.torch.FallbackWarning)
        for size in (2, 6):
            check(compiled, function, torch.randn(size, 8))


def test_graphs_with_writes_are_not_partitioned(caplog):
    def function(x):
        y = x + 1
        view = y.view(6)
        y.mul_(2)
        return torch.special.bessel_j0(view) + 1

    x = torch.randn(2, 3)
    with caplog.at_level(logging.INFO, "tessera.torch"):
        with pytest.warns(tessera.torch.FallbackWarning, match="a graph is left to PyTorch: .*bessel"):
            torch.testing.assert_close(torch.compile(function, backend="tessera")(x), function(x))
    assert find_compiled(caplog) == []


def test_writes_are_left_to_pytorch():
    def function(x):
        x.add_(1)
        return x * 2

    x = torch.zeros(3)
    with pytest.warns(tessera.torch.FallbackWarning, match="writes .* in place"):
        assert torch.compile(function, backend="tessera")(x).tolist() == [2, 2, 2]
    assert x.tolist() == [1, 1, 1]


def test_views_are_left_to_pytorch():
    def function(x):
        return x.view(6), x + 1

    x = torch.zeros(2, 3)
    with pytest.warns(tessera.torch.FallbackWarning, match="a view of the input"):
        view, _ = torch.compile(function, backend="tessera")(x)
    view[0] = 5
    assert x[0, 0] == 5


def test_training_is_left_to_pytorch():
    module = Net().train()
    compiled = torch.compile(module, backend="tessera")
    x = torch.randn(2, 3, 16, 16)
    with torch.enable_grad(), pytest.warns(tessera.torch.FallbackWarning, match="forward only"):
        compiled(x).sum().backward()
    assert module.conv.weight.grad is not None
    torch._dynamo.reset()
    with torch.enable_grad(), pytest.raises(Exception, match="forward only"):
        compile_strictly(module)(x)
    # Statistics of the batch are written, with no gradient.
    torch._dynamo.reset()
    before = module.norm.running_mean.clone()
    with pytest.warns(tessera.torch.FallbackWarning, match="in place"):
        torch.compile(module, backend="tessera")(x)
    assert not torch.equal(before, module.norm.running_mean)


def test_options():
    for options, text in (({"fallbacks": True}, "no option 'fallbacks': its options are fallback, target"),
                          ({"flags": "none-such", "fallback": False}, "none-such")):
        torch._dynamo.reset()
        with pytest.raises(Exception, match=text):
            torch.compile(lambda x: x + 1, backend="tessera", options=options)(torch.ones(3))
    torch._dynamo.reset()
    with pytest.raises(Exception, match="no mode 'reduce-overhead'"):
        torch.compile(lambda x: x + 1, backend="tessera", mode="reduce-overhead")(torch.ones(3))


# --- tessera.torch.load ------------------------------------------------------------------------------


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, pair, *, bias):
        return {"scores": self.net(pair[0]) + bias, "other": pair[1] * 2}


def test_load():
    module = Pair().eval()
    batch = torch.export.Dim("batch")
    pair, bias = (torch.randn(2, 3, 16, 16), torch.randn(4)), torch.randn(10)
    exported = torch.export.export(module, (pair,), {"bias": bias},
                                   dynamic_shapes={"pair": ({0: batch}, None), "bias": None})
    program = tessera.torch.load(exported)
    assert str(program.model.inputs[0]).endswith(", 3, 16, 16]")
    assert isinstance(program.model.inputs[0].shape[0], str)
    names = [value.name for value in program.model.inputs]
    assert "net.conv.weight" in names and "net.scale" in names
    for size in (2, 5):
        pair = (torch.randn(size, 3, 16, 16), torch.randn(4))
        check(lambda: program(pair, bias=bias), lambda: module(pair, bias=bias))
    module.net.conv.weight.mul_(2)
    check(lambda: program(pair, bias=bias), lambda: module(pair, bias=bias))
    with pytest.raises(TypeError, match="nested differently"):
        program(pair[0], bias=bias)
    with torch.enable_grad(), pytest.raises(RuntimeError, match="no derivative"):
        program(pair, bias=bias.clone().requires_grad_())


def test_load_rejects_what_it_cannot_compile():
    class Writes(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x):
            self.count.add_(1)
            return x + self.count

    exported = torch.export.export(Writes(), (torch.ones(3),))
    with pytest.raises(tessera.torch.UnsupportedError, match="it writes 'count' in place"):
        tessera.torch.load(exported)
    with pytest.raises(TypeError, match="unexpected keyword argument 'batch'"):
        tessera.torch.load(exported, batch=3)
