# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on PyTorch's tensors of the host."""

import sys

import pytest
import tessera

torch = pytest.importorskip("torch")

# PyTorch has no tensors of i4.
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
         "i1": torch.bool, "i8": torch.int8, "ui8": torch.uint8, "i16": torch.int16, "i32": torch.int32,
         "i64": torch.int64, "index": torch.int64, "f8E4M3FN": torch.float8_e4m3fn,
         "f8E5M2": torch.float8_e5m2}


class Subclass(torch.Tensor):
    """Is read by its attributes."""


def transpose(element, sizes="?x?"):
    dynamic = "?" in sizes
    dims = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x{0}>
  %n = tensor.dim %x, %c1 : tensor<?x?x{0}>""".format(element) if dynamic else ""
    turned = "x".join(reversed(sizes.split("x")))
    return tessera.compile(f"""
func.func @main(%x: tensor<{sizes}x{element}>) -> tensor<{turned}x{element}> {{{dims}
  %e = tensor.empty({"%n, %m" if dynamic else ""}) : tensor<{turned}x{element}>
  %t = linalg.transpose ins(%x : tensor<{sizes}x{element}>) outs(%e : tensor<{turned}x{element}>)
      permutation = [1, 0]
  return %t : tensor<{turned}x{element}>
}}""")


def values(dtype, *shape):
    return torch.randint(0, 2 if dtype == torch.bool else 9, shape).to(dtype)


@pytest.mark.parametrize("sizes", ["?x?", "3x5"])
@pytest.mark.parametrize("element", [name for name in TYPES if name not in ("index", "ui8")])
def test_types(element, sizes):
    dtype = TYPES[element]
    program = transpose(element, sizes)
    x = values(dtype, 3, 5)
    for own in (x, x.as_subclass(Subclass), torch.nn.Parameter(x, requires_grad=False)):
        y = program(own)
        assert type(y) is torch.Tensor and y.dtype == dtype and y.is_contiguous()
        assert torch.equal(y.view(torch.uint8 if y.itemsize == 1 else y.dtype),
                           x.T.contiguous().view(torch.uint8 if y.itemsize == 1 else y.dtype))


def test_both_ways_of_reading_agree():
    """By DLPack's functions of C, and by attributes."""
    program = transpose("f32")
    base = torch.arange(24, dtype=torch.float32)
    dense = [base.reshape(4, 6), base.reshape(4, 6)[1:3], base.reshape(24, 1), base[:0].reshape(0, 7),
             base.reshape(1, 24).expand(1, 24), base[5:6].reshape(1, 1), base.reshape(4, 6)[:, :0]]
    for x in dense:
        for own in (x, x.as_subclass(Subclass)):
            assert torch.equal(program(own), x.T), x.shape
    others = [base.reshape(4, 6).T, base.reshape(4, 6)[:, 1:4], base[:1].reshape(1, 1).expand(3, 2)]
    for x in others:
        messages = []
        for own in (x, x.as_subclass(Subclass)):
            with pytest.raises(tessera.Error, match="pass a dense copy") as caught:
                program(own)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
        assert torch.equal(program(x.contiguous()), x.T)


def test_written_in_place():
    program = tessera.compile("""
func.func @main(%x: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    linalg.yield %s : f32
  }
  return
}""")
    x = torch.arange(8, dtype=torch.float32)
    expected = x.clone()
    expected[2:5] *= 2
    assert program(x[2:5]) is None
    assert torch.equal(x, expected)


def test_mistakes_are_reported():
    program = transpose("f32")
    x = torch.ones(2, 3)
    for own in (x.clone().requires_grad_(), torch.nn.Parameter(x)):
        with pytest.raises(TypeError, match=r"argument 0 \(tensor<\?x\?xf32>\): .* call detach\(\)"):
            program(own)
        assert torch.equal(program(own.detach()), x.T)
    for dtype in (torch.bfloat16, torch.complex64, torch.int64):
        for own in (x.to(dtype), x.to(dtype).as_subclass(Subclass)):
            name = str(dtype).split(".")[1]
            with pytest.raises(TypeError, match=f"its elements are {name}, but the program expects float32"):
                program(own)
    with pytest.raises(TypeError, match="a tensor on meta cannot be passed: move it to cpu or cuda"):
        program(x.to("meta"))
    with pytest.raises((TypeError, RuntimeError)):
        program(x.to_sparse())
    with pytest.raises(TypeError, match="it has 1 dimensions"):
        program(x[0])
    inverted = torch.tensor([[1 + 2j]]).conj().imag
    assert inverted.is_neg()
    with pytest.raises(TypeError, match="call resolve_neg"):
        program(inverted)
    assert program(inverted.resolve_neg()).item() == -2


def test_results_and_references():
    program = transpose("f32", "3x5")
    x = values(torch.float32, 3, 5)
    program(x)
    before = sys.getrefcount(x)
    results = [program(x) for _ in range(20)]
    assert len({result.data_ptr() for result in results}) == 20
    assert sys.getrefcount(x) == before
    # A result is an ordinary tensor.
    y = results[0].requires_grad_()
    y.square().sum().backward()
    assert torch.equal(y.grad, 2 * x.T)


def test_results_are_as_those_of_torch_empty():
    """They come from a function of compiled code, where this version has it."""
    for sizes in ("3x5", "0x7", "4x0", "1x1", "?x?"):
        program = transpose("f32", sizes)
        rows, columns = (int(size) if size != "?" else 3 for size in sizes.split("x"))
        y = program(torch.ones(rows, columns))
        expected = torch.empty(columns, rows)
        for what in ("shape", "stride", "dtype", "device", "layout", "requires_grad", "is_leaf",
                     "storage_offset", "is_inference"):
            own, other = getattr(y, what), getattr(expected, what)
            assert (own() if callable(own) else own) == (other() if callable(other) else other), what
    with torch.inference_mode():
        assert transpose("f32", "3x5")(torch.ones(3, 5)).is_inference()


def test_modes_of_pytorch():
    program = transpose("f32", "3x5")
    x = values(torch.float32, 3, 5)
    with torch.inference_mode():
        y = program(x + 0)
    assert torch.equal(y, x.T)
    with torch.device("meta"):
        # A default device does not move results.
        y = program(x)
    assert y.device.type == "cpu" and torch.equal(y, x.T)
