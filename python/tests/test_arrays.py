# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in forms that would be read wrongly, and streams of the caller's; without a GPU, by a stand-in for PyTorch."""

import contextlib
import gc
import sys
import types
import weakref

import ml_dtypes
import numpy as np
import pytest
import tessera
from tessera import _arrays, _core

TWICE = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %sum = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>)
      -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
"""

WIDEN = """
func.func @main(%x: tensor<4xi4>) -> tensor<4xi8> {
  %empty = tensor.empty() : tensor<4xi8>
  %wide = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                          iterator_types = ["parallel"]}
      ins(%x : tensor<4xi4>) outs(%empty : tensor<4xi8>) {
  ^bb0(%in: i4, %out: i8):
    %e = arith.extsi %in : i4 to i8
    linalg.yield %e : i8
  } -> tensor<4xi8>
  return %wide : tensor<4xi8>
}
"""


@pytest.fixture(scope="module")
def twice():
    return tessera.compile(TWICE)


def swapped(array):
    return array.astype(array.dtype.newbyteorder("S"))


def test_byte_order(twice, exchanged):
    x = np.array([1, 2, 3, 4], np.float32)
    with pytest.raises(TypeError, match=r"argument 0.*not in the byte order of this machine: pass array\.astype"):
        twice(swapped(x))
    with pytest.raises(TypeError, match=r"argument 0 \(tensor<\?xf32>\).*not in the byte order"):
        twice.entry()(swapped(x))
    # The fix that the message names works.
    again = swapped(x)
    np.testing.assert_array_equal(twice(again.astype(again.dtype.newbyteorder("="))), x + x)
    np.testing.assert_array_equal(twice(x.astype("<f4")), x + x)
    with pytest.raises(TypeError, match="argument 0.*cannot be exchanged by DLPack: .*byte order"):
        twice(exchanged(swapped(x)))


def test_fields_of_packed_structs(twice, exchanged):
    records = np.zeros(4, [("tag", np.uint8), ("value", np.float32)])
    assert records["value"].strides == (5,)
    records["value"] = x = np.array([1, 2, 3, 4], np.float32)
    with pytest.raises(TypeError, match=r"argument 0.*stride in dimension 0 is 5 bytes, which is not a "
                                        r"multiple of an element's 4"):
        twice(records["value"])
    np.testing.assert_array_equal(twice(np.ascontiguousarray(records["value"])), x + x)
    with pytest.raises(TypeError, match="argument 0.*cannot be exchanged by DLPack: .*itemsize"):
        twice(exchanged(records["value"]))
    # One element has no stride, and may lie at an odd address.
    np.testing.assert_array_equal(twice(records["value"][2:3]), [6])
    # The runtime checks strides that are multiples.
    padded = np.zeros(4, np.dtype([("value", np.float32), ("other", np.float32)]))
    with pytest.raises(tessera.Error, match="stride in dimension 0 is 2 elements.*pass a dense copy"):
        twice(padded["value"])
    with pytest.raises(tessera.Error, match="stride in dimension 0 is -1 elements"):
        twice(x[::-1])
    assert twice(records["value"][:0]).shape == (0,)


def test_masked_arrays(twice):
    x = np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0], dtype=np.float32)
    with pytest.raises(TypeError, match=r"argument 0.*a masked array cannot be passed.*array\.filled"):
        twice(x)
    np.testing.assert_array_equal(twice(x.filled(0)), [2, 0, 6, 8])
    np.testing.assert_array_equal(twice(x.data), [2, 4, 6, 8])
    scalar = tessera.compile("func.func @main(%x: f32) -> f32 {\n  return %x : f32\n}")
    with pytest.raises(TypeError, match="argument 0.*a masked array cannot be passed"):
        scalar(np.ma.masked)
    with pytest.raises(TypeError, match="argument 0 .*a masked number"):
        scalar.entry()(np.ma.masked)


def test_i4_is_packed():
    program = tessera.compile(WIDEN)
    packed = np.array([0xE1, 0x43], np.uint8)
    np.testing.assert_array_equal(program(packed), [1, -2, 3, 4])
    with pytest.raises(TypeError, match="argument 0.*one int4 element per byte: pass an array of uint8"):
        program(np.array([1, -2, 3, 4], ml_dtypes.int4))
    with pytest.raises(TypeError, match="argument 0.*packed i4 requires a dense array"):
        program(np.array([0xE1, 9, 0x43, 9], np.uint8)[::2])


#===------------------------------------------------------------------------===#
# Streams
#===------------------------------------------------------------------------===#


class FakeStream:
    def __init__(self, number):
        self.cuda_stream = number


class FakeTensor:
    """A tensor on a GPU, with memory of the allocator."""

    def __init__(self, log, name, shape=(8,), pointer=4096):
        self.log, self.name, self.pointer = log, name, pointer
        self.shape, self.dtype = shape, np.dtype(np.float32)
        self.requires_grad, self.is_cuda = False, True

    def is_contiguous(self):
        return True

    def is_neg(self):
        return False

    def data_ptr(self):
        return self.pointer

    def get_device(self):
        return 0

    def record_stream(self, stream):
        self.log.append(("record", self.name, stream.cuda_stream))


@pytest.fixture
def log(monkeypatch):
    """Records the calls of PyTorch and the runtime; the current stream is number 7."""
    log, streams = [], [FakeStream(7)]

    @contextlib.contextmanager
    def stream(own):
        streams.append(own)
        yield
        streams.pop()

    def external(number, device):
        # PyTorch makes a new stream for 0.
        assert number != 0 and device == 0
        return FakeStream(number)

    torch = types.ModuleType("torch")
    torch.Tensor = FakeTensor
    torch.version = types.SimpleNamespace(hip=None)
    torch.cuda = types.SimpleNamespace(
        current_stream=lambda ordinal: streams[-1], default_stream=lambda ordinal: FakeStream(0),
        ExternalStream=external, stream=stream)
    torch.float32 = np.dtype(np.float32)

    def empty(shape, dtype, device):
        assert dtype == torch.float32 and device == 0
        if shape and shape[0] > 1000:
            raise MemoryError("the allocator has no memory")
        log.append(("empty", shape, streams[-1].cuda_stream))
        return FakeTensor(log, "result", shape, pointer=1 << 20)

    torch.empty = empty
    monkeypatch.setitem(sys.modules, "torch", torch)

    return log


@pytest.fixture
def entry(log):
    """Its result has as many elements as the argument."""

    def record(arguments, results, stream):
        log.append(("run", stream))
        (memory, pointer, shape, strides), = arguments
        assert (memory, pointer, strides) == (1, 4096, None)
        return [shape]

    program = tessera.compile(TWICE)
    return _core.Entry(program._program, "main", None, "cuda", 0, record)


def test_the_current_stream_needs_no_record(log, entry):
    # The size of the result is not known before the first run with these arguments.
    result = entry(FakeTensor(log, "x"))
    assert log == [("run", 7), ("empty", (8,), 7)]
    assert isinstance(result, FakeTensor) and result.shape == (8,)
    log.clear()
    assert entry(FakeTensor(log, "x"), stream=7).shape == (8,)
    assert log == [("empty", (8,), 7), ("run", 7)]
    log.clear()
    assert entry(FakeTensor(log, "x", (5,))).shape == (5,)
    assert log == [("run", 7), ("empty", (5,), 7)]


@pytest.mark.parametrize("stream", [0, 11])
def test_memory_is_kept_for_a_stream_of_the_callers(log, entry, stream):
    entry(FakeTensor(log, "x"), stream=stream)
    # The result is PyTorch's own memory, made in that stream.
    assert log == [("record", "x", stream), ("run", stream), ("empty", (8,), stream)]
    log.clear()
    result = entry(FakeTensor(log, "x"), stream=stream)
    assert log == [("record", "x", stream), ("empty", (8,), stream), ("run", stream)]
    log.clear()
    result.record_stream(FakeStream(3))
    assert log == [("record", "result", 3)]


def test_results_of_the_allocator(log):
    """Sizes that the arguments do not determine, no elements, and an allocator without memory."""
    shapes = []
    program = tessera.compile("""
func.func @main(%x: tensor<?xf32>) -> (tensor<4xf32>, f32, tensor<?xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %f, %zero, %x : tensor<4xf32>, f32, tensor<?xf32>
}""")
    pointers = []

    def record(arguments, results, stream):
        pointers.append(results)
        return [(4,), (), shapes[-1]]

    entry = _core.Entry(program._program, "main", None, "cuda", 0, record)
    x = FakeTensor(log, "x")
    for shape in [(3,), (3,), (5,), (3,), (0,), (3,)]:
        shapes.append(shape)
        first, scalar, second = entry(x)
        assert first.shape == (4,) and scalar == 0 and second.shape == shape
    assert log == [
        ("empty", (4,), 7), ("empty", (3,), 7),
        ("empty", (4,), 7), ("empty", (3,), 7),
        # The prediction was wrong, twice.
        ("empty", (4,), 7), ("empty", (3,), 7), ("empty", (5,), 7),
        ("empty", (4,), 7), ("empty", (3,), 7),
        ("empty", (4,), 7), ("empty", (3,), 7), ("empty", (0,), 7),
        ("empty", (4,), 7), ("empty", (3,), 7)]
    # Only the scalar has an address before the run.
    assert all(results[0] == results[2] == 0 and results[1] for results in pointers)
    shapes.append((2000,))
    with pytest.raises(MemoryError, match="the allocator has no memory"):
        entry(x)
    assert gc.isenabled()
    shapes.append((3,))
    assert entry(x)[2].shape == (3,)


@pytest.mark.parametrize("devices,current,is_short", [(1, None, True), (2, 0, True), (2, 1, False)])
def test_results_by_the_function_of_compiled_code(log, devices, current, is_short):
    """It allocates on the current GPU, which with several need not be the program's."""
    torch = sys.modules["torch"]
    asked = []

    def current_device():
        asked.append(current)
        return current

    def empty_strided(sizes, strides, dtype):
        assert dtype == torch.float32 and type(sizes) is tuple and type(strides) is tuple
        log.append(("short", sizes, strides))
        return FakeTensor(log, "result", sizes, pointer=1 << 20)

    torch.cuda.device_count = lambda: devices
    guards = types.SimpleNamespace(_empty_strided_cuda=empty_strided)
    torch._C = types.SimpleNamespace(_cuda_getDevice=current_device,
                                     _dynamo=types.SimpleNamespace(guards=guards))
    program = tessera.compile("""
func.func @main(%x: tensor<?xf32>) -> (tensor<2x3x4xf32>, tensor<5x0x7xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %f = tensor.empty() : tensor<5x0x7xf32>
  %g = tensor.empty() : tensor<f32>
  return %e, %f, %g : tensor<2x3x4xf32>, tensor<5x0x7xf32>, tensor<f32>
}""")
    shapes = [(2, 3, 4), (5, 0, 7), ()]
    entry = _core.Entry(program._program, "main", None, "cuda", 0, lambda *call: shapes)
    for _ in range(2):
        log.clear()
        results = entry(FakeTensor(log, "x"))
        assert [result.shape for result in results] == shapes
        # The strides are those of torch.empty.
        assert log == ([("short", (2, 3, 4), (12, 4, 1)), ("short", (5, 0, 7), (7, 7, 1)),
                        ("short", (), ())] if is_short else
                       [("empty", (2, 3, 4), 7), ("empty", (5, 0, 7), 7), ("empty", (), 7)])
    assert len(asked) == (6 if devices > 1 else 0)


def test_a_stream_is_a_number(log, entry):
    with pytest.raises(TypeError, match=r"stream must be a stream handle as an integer, not a FakeStream: pass stream\.cuda_stream"):
        entry(FakeTensor(log, "x"), stream=FakeStream(11))
    assert log == []


#===------------------------------------------------------------------------===#
# Reading arrays
#===------------------------------------------------------------------------===#


def recording_entry(text, target="cuda"):
    """An entry point that returns what it would pass to the runtime."""
    calls = []
    program = tessera.compile(text)
    entry = _core.Entry(program._program, "main", None, target, 0,
                        lambda *call: calls.append(call))
    return entry, calls


def nothing(*types):
    arguments = ", ".join(f"%a{index}: {type}" for index, type in enumerate(types))
    return f"func.func @main({arguments}) {{\n  return\n}}"


class CudaArray:
    """Has nothing but `__cuda_array_interface__`, with the fields that are given."""

    def __init__(self, **fields):
        self.__cuda_array_interface__ = {
            "shape": (4, 6), "typestr": "<f4", "data": (4096, False), "strides": None, "version": 3,
            **fields}


@pytest.fixture
def on_device_0(monkeypatch):
    monkeypatch.setattr(_arrays, "device_of_pointer", lambda pointer: 0)


def test_cuda_array_interface(on_device_0):
    class Numba(CudaArray):
        __cuda_array_interface__ = None

    entry, calls = recording_entry(nothing("tensor<?x?xf32>"))
    entry(Numba())
    entry(Numba(stream=7))
    entry(Numba(strides=(24, 4)))
    assert calls == [([(1, 4096, (4, 6), None)], [], None), ([(1, 4096, (4, 6), None)], [], 7),
                     ([(1, 4096, (4, 6), None)], [], None)]
    calls.clear()
    entry(Numba(strides=(48, 4)))
    entry(Numba(stream=7), stream=9)
    assert calls == [([(1, 4096, (4, 6), (12, 1))], [], None), ([(1, 4096, (4, 6), None)], [], 9)]
    for fields, message in [
            (dict(typestr="<f8"), "float64, but the program expects float32"),
            (dict(typestr=">f4"), "not in the byte order"),
            (dict(strides=(26, 4)), "stride in dimension 0 is 26 bytes"),
            (dict(mask=1), "a masked array"),
            (dict(shape=(4,)), "it has 1 dimensions")]:
        with pytest.raises(TypeError, match=r"argument 0 \(tensor<\?x\?xf32>\): .*" + message):
            entry(Numba(**fields))
    written, _ = recording_entry("""
func.func @main(%x: memref<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<4x6xf32>)
  return
}""")
    with pytest.raises(TypeError, match="the program writes it, but it is read-only"):
        written(Numba(data=(4096, True)))
    written(Numba())
    cpu = tessera.compile(nothing("tensor<?x?xf32>")).entry()
    with pytest.raises(TypeError, match="it is on cuda:0, but the program runs on cpu:0"):
        cpu(Numba())


def test_memory_of_no_device(monkeypatch):
    class Numba(CudaArray):
        __cuda_array_interface__ = None

    monkeypatch.setattr(_arrays, "device_of_pointer", lambda pointer: -1)
    entry, _ = recording_entry(nothing("tensor<?x?xf32>"))
    with pytest.raises(TypeError, match="argument 0 .*its memory does not belong to a CUDA device"):
        entry(Numba())


def test_arrays_in_numpys_forms():
    """Shapes, strides and addresses arrive as NumPy has them, for many dimensions and arguments too."""
    deep = "x".join(["?"] * 9)
    entry, calls = recording_entry(nothing(f"tensor<{deep}xf32>", *["tensor<?xi32>"] * 11), "cpu")
    x = np.zeros((2, 1, 3, 1, 2, 1, 1, 2, 2), np.float32)
    others = [np.zeros(index, np.int32) for index in range(11)]
    entry(x, *others)
    entry(x.transpose(), *others)
    view = np.lib.stride_tricks.as_strided(x, x.shape, tuple(reversed(x.strides)))
    entry(view, *others)
    expected = [(0, other.ctypes.data, other.shape, None) for other in others]
    for call, array, strides in [(0, x, None), (1, x.transpose(), x.transpose().strides),
                                 (2, view, view.strides)]:
        arguments, results, stream = calls[call]
        strides = strides and tuple(stride // 4 for stride in strides)
        assert arguments == [(0, array.ctypes.data, array.shape, strides), *expected]
        assert results == [] and stream is None


class Subclass(np.ndarray):
    pass


def test_subclasses_of_numpys_arrays(twice):
    x = np.array([1, 2, 3], np.float32)
    result = twice(x.view(Subclass))
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, x + x)
    np.testing.assert_array_equal(twice(np.asarray(np.float32(3)).reshape(1)), [6])
    # A type that equals float32, but is another object.
    own = np.dtype("<f4", metadata={"unit": "m"})
    np.testing.assert_array_equal(twice(x.astype(own)), x + x)


@pytest.mark.parametrize("element,good,bad", [
    ("i8", [-128, 127, np.int8(-3)], [128, -129, 1.0, "1", None]),
    ("i16", [-32768, 32767], [32768, 1.5]),
    ("i32", [-2**31, 2**31 - 1, True], [2**31, 2**100, np.float32(1)]),
    ("i64", [-2**63, 2**63 - 1], [2**63, -2**63 - 1]),
    ("index", [0, -1, 2**62], [2**63]),
    ("f32", [1.5, 3, float("inf"), np.float32(2.5), -0.0], ["1", 1j]),
    ("f64", [1e300, 7, 2**70], ["x"]),
    ("f16", [0.5, 65504, np.float16(3)], [1e6]),
    ("bf16", [0.5, 3], ["x"]),
    ("i1", [True, False, 1, 0], []),
])
def test_scalars(element, good, bad):
    program = tessera.compile(
        f"func.func @main(%x: {element}) -> {element} {{\n  return %x : {element}\n}}")
    for value in good:
        result = program(value)
        assert result == value and type(result) in (int, float, bool, ml_dtypes.bfloat16), value
        assert np.signbit(float(result)) == np.signbit(float(value))
    for value in bad:
        with pytest.raises(TypeError, match=rf"argument 0 \({element}\): .* is not a valid number: "):
            program(value)
    if element in ("f32", "f64", "f16", "bf16"):
        assert np.isnan(float(program(float("nan"))))


def test_keywords(twice):
    x = np.ones(3, np.float32)
    with pytest.raises(TypeError, match="unexpected keyword argument 'streem'"):
        twice(x, streem=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'entry'"):
        twice.entry()(x, entry="main")
    np.testing.assert_array_equal(twice(x, entry=None, stream=None), x + x)
    for wrong in (True, 1.5, "7"):
        with pytest.raises(TypeError, match="stream must be a stream handle as an integer, not a "
                                            f"{type(wrong).__name__}"):
            twice(x, stream=wrong)
    with pytest.raises(tessera.Error, match="no entry point 'other'"):
        twice(x, entry="other")


def test_references_are_released(twice):
    """A call keeps no argument or result, whether it succeeds or fails."""
    x, bad = np.ones(3, np.float32), np.ones((3, 3), np.float32)
    checked = tessera.compile(nothing("tensor<?xf32>", "f32", "tensor<?xi32>"))
    wrong = np.zeros(4, np.float64)
    twice(x)
    objects = [x, bad, wrong, twice.entry()]
    before = [sys.getrefcount(one) for one in objects]
    results = []
    for _ in range(50):
        results.append(twice(x))
        for call in (lambda: twice(bad), lambda: checked(x, 1.0, wrong), lambda: checked(x, "1", wrong),
                     lambda: twice(x, x), lambda: twice(object())):
            with pytest.raises(TypeError):
                call()
    alive = [weakref.ref(result) for result in results]
    results.clear()
    assert not any(reference() is not None for reference in alive)
    assert [sys.getrefcount(one) for one in objects] == before


#===------------------------------------------------------------------------===#
# CuPy
#===------------------------------------------------------------------------===#


class FakeCuPyArray:
    """An array of CuPy on device 0, dense unless it has other strides."""

    def __init__(self, shape, dtype=np.float32, strides=None, device=0):
        dense = np.empty(shape, dtype)
        self.shape, self.dtype, self.itemsize = dense.shape, dense.dtype, dense.itemsize
        self.strides = dense.strides if strides is None else strides
        self.flags = types.SimpleNamespace(c_contiguous=self.strides == dense.strides)
        self.data = types.SimpleNamespace(ptr=8192, device_id=device)

    def __dlpack__(self, **arguments):
        raise AssertionError("makes the default stream wait")


@pytest.fixture
def cupy(monkeypatch):
    module = types.ModuleType("cupy")
    module.ndarray = FakeCuPyArray
    module.cuda = types.SimpleNamespace(
        get_current_stream=lambda: types.SimpleNamespace(ptr=5),
        runtime=types.SimpleNamespace(is_hip=False))
    streams = [5]

    @contextlib.contextmanager
    def stream(number, device=0):
        streams.append(number)
        yield
        streams.pop()

    module.cuda.ExternalStream = stream
    module.cuda.Stream = types.SimpleNamespace(null=stream(0))
    module.made = []

    def empty(shape, dtype):
        module.made.append((shape, dtype, streams[-1]))
        return FakeCuPyArray(shape, dtype)

    module.empty = empty
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_cupy(cupy):
    entry, calls = recording_entry(nothing("tensor<?x?xf32>", "tensor<?xf16>"))
    entry(FakeCuPyArray((3, 4)), FakeCuPyArray((0,), np.float16))
    entry(FakeCuPyArray((3, 4), strides=(32, 4)), FakeCuPyArray((5,), np.float16), stream=0)
    assert calls == [([(1, 8192, (3, 4), None), (1, 8192, (0,), None)], [], 5),
                     ([(1, 8192, (3, 4), (8, 1)), (1, 8192, (5,), None)], [], 0)]
    for wrong, message in [
            (FakeCuPyArray((3, 4), np.float64), "float64, but the program expects float32"),
            (FakeCuPyArray((3, 4), device=1), "it is on cuda:1, but the program runs on cuda:0"),
            (FakeCuPyArray((3,)), "it has 1 dimensions"),
            (FakeCuPyArray((3, 4), strides=(18, 4)), "stride in dimension 0 is 18 bytes")]:
        with pytest.raises(TypeError, match=r"argument 0 \(tensor<\?x\?xf32>\): .*" + message):
            entry(wrong, FakeCuPyArray((5,), np.float16))


#===------------------------------------------------------------------------===#
# Lifetimes
#===------------------------------------------------------------------------===#


def test_exchanged_memory_lives_during_the_call():
    """An object that exports a new array each time, which nothing else refers to."""
    made = []

    class Temporary:
        def __dlpack__(self, **arguments):
            array = np.full(8, 3, np.float32)
            made.append(weakref.ref(array))
            return array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return (1, 0)

    program = tessera.compile(nothing("tensor<?xf32>"))
    alive = []
    entry = _core.Entry(program._program, "main", None, "cpu", 0,
                        lambda *call: alive.append([array() is not None for array in made]))
    entry(Temporary())
    assert any(alive[0])
    assert all(array() is None for array in made)


def test_types_are_released(twice):
    """The last types are remembered, not all of them."""
    types_seen = []
    for index in range(40):
        own = type(f"Own{index}", (np.ndarray,), {})
        twice(np.ones(3, np.float32).view(own))
        types_seen.append(weakref.ref(own))
        del own
    gc.collect()
    assert sum(reference() is not None for reference in types_seen) < 20


def test_results_of_cupy(cupy):
    program = tessera.compile("""
func.func @main(%x: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %e = tensor.empty() : tensor<4x6xf16>
  %s = linalg.add ins(%x, %x : tensor<4x6xf16>, tensor<4x6xf16>) outs(%e : tensor<4x6xf16>)
      -> tensor<4x6xf16>
  return %s : tensor<4x6xf16>
}""")
    entry = _core.Entry(program._program, "main", None, "cuda", 0, lambda *call: [(4, 6)])
    for stream in (None, 5, 9, 0):
        assert isinstance(entry(FakeCuPyArray((4, 6), np.float16), stream=stream), FakeCuPyArray)
    assert cupy.made == [((4, 6), np.float16, 5), ((4, 6), np.float16, 5), ((4, 6), np.float16, 9),
                         ((4, 6), np.float16, 0)]
