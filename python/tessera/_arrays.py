# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other packages as arguments, and results as arrays of theirs."""

from __future__ import annotations

import sys
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _core

HOST, DEVICE = 0, 1

# By the numbers of TesseraElementType: the name in MLIR, NumPy's (ml_dtypes' where NumPy has none),
# and DLPack's code and bits.
ELEMENTS = [
    ("f16", "float16", 2, 16),
    ("bf16", "bfloat16", 4, 16),
    ("f32", "float32", 2, 32),
    ("f64", "float64", 2, 64),
    ("i1", "bool", 6, 8),
    ("i4", "int4", 0, 4),
    ("i8", "int8", 0, 8),
    ("ui8", "uint8", 1, 8),
    ("i16", "int16", 0, 16),
    ("i32", "int32", 0, 32),
    ("i64", "int64", 0, 64),
    ("f8E4M3FN", "float8_e4m3fn", 10, 8),
    ("f8E5M2", "float8_e5m2", 12, 8),
    ("f8E4M3FNUZ", "float8_e4m3fnuz", 11, 8),
    ("f8E5M2FNUZ", "float8_e5m2fnuz", 13, 8),
    ("index", "int64", 0, 64),
]

# DLPack's kinds of devices, with the target that each is.
DLPACK_CPU, DLPACK_CUDA, DLPACK_CUDA_HOST, DLPACK_ROCM = 1, 2, 3, 10
TARGETS = {DLPACK_CUDA: "cuda", DLPACK_ROCM: "hip"}


class View(NamedTuple):
    """An array to pass to a program; `keep` stays alive until the call returns."""

    memory: int
    pointer: int
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]]
    dtype: str
    #: "cuda" or "hip", and the number of the device; "" for the host.
    target: str
    ordinal: int
    keep: Any


#: Names of the element types seen so far: formatting one takes a microsecond or two.
_names: Dict[Any, str] = {}


def _name(dtype: Any) -> str:
    """The name of a NumPy or PyTorch type: "float32"."""
    name = _names.get(dtype)
    if name is None:
        name = dtype.name if isinstance(dtype, np.dtype) else str(dtype).partition(".")[2]
        _names[dtype] = name
    return name


def is_torch(value: Any) -> bool:
    """Without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_cupy(value: Any) -> bool:
    """Without importing it."""
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def package_of(values: Sequence[Any]) -> str:
    """The package whose arrays the results must be: "torch", "cupy", or "" for NumPy and DLPack."""
    if any(is_torch(value) for value in values):
        return "torch"
    return "cupy" if any(is_cupy(value) for value in values) else ""


def is_dense(shape: Sequence[int], strides: Optional[Sequence[int]]) -> bool:
    """Whether strides, in elements, describe a dense row-major array."""
    if strides is None or 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def _numpy_view(value: np.ndarray) -> View:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("a masked array cannot be passed, because a program does not see the mask: "
                        "pass "
                        "array.filled(value), or array.data for all elements")
    dtype = value.dtype
    if not dtype.isnative:
        raise TypeError(f"its elements ({dtype.str}) are not in the byte order of this machine: pass "
                        "array.astype(array.dtype.newbyteorder('='))")
    if dtype.name == "int4":
        # It has an element in each byte, where a program takes two.
        raise TypeError("NumPy stores one int4 element per byte: pass an array of uint8 with two "
                        "elements per byte, the first one in the low bits")
    # A read-only array is a guarantee to its owner.
    strides = None
    if not value.flags.c_contiguous:
        size = max(dtype.itemsize, 1)
        for dim, stride in enumerate(value.strides):
            if value.shape[dim] > 1 and stride % size:
                raise TypeError(f"its stride in dimension {dim} is {stride} bytes, which is not a "
                                f"multiple of an element's {size} (a field of a packed struct): pass "
                                "np.ascontiguousarray(array)")
        strides = tuple(stride // size for stride in value.strides)
    return View(HOST, value.ctypes.data, value.shape, strides, _name(dtype), "", 0, value)


def _torch_view(value: Any) -> View:
    if value.requires_grad:
        raise TypeError("a tensor that requires a gradient cannot be passed: call detach()")
    # A contiguous array is dense: its strides need no check.
    strides = None if value.is_contiguous() else tuple(value.stride())
    shape, name = tuple(value.shape), _name(value.dtype)
    if value.is_cuda:
        target = "hip" if sys.modules["torch"].version.hip else "cuda"
        return View(DEVICE, value.data_ptr(), shape, strides, name, target, value.get_device(), value)
    if value.device.type != "cpu":
        raise TypeError(f"a tensor on {value.device} cannot be passed: move it to cpu or cuda")
    return View(HOST, value.data_ptr(), shape, strides, name, "", 0, value)


def _exchange(value: Any) -> Tuple[Any, ...]:
    """The result of `from_array`; a TypeError with the reason if the package gives none."""
    try:
        return _core.from_array(value)
    except TypeError:
        pass
    reason = "the array has a form that cannot be passed"
    try:
        value.__dlpack__()
    except Exception as error:  # It is the other package's, of any class.
        reason = str(error) or type(error).__name__
    raise TypeError(f"it cannot be exchanged by DLPack: {reason}")


def view(value: Any) -> Optional[View]:
    """The value as an array; None if it is not one. A TypeError states why it cannot be passed."""
    if isinstance(value, np.ndarray):
        return _numpy_view(value)
    if is_torch(value):
        return _torch_view(value)
    if not hasattr(value, "__dlpack__"):
        return None
    pointer, shape, strides, code, bits, lanes, kind, ordinal, keep = _exchange(value)
    if lanes != 1:
        raise TypeError(f"arrays of vectors of {lanes} elements cannot be passed")
    names = [entry[1] for entry in ELEMENTS if entry[2:] == (code, bits)]
    if kind not in (DLPACK_CPU, DLPACK_CUDA_HOST) and kind not in TARGETS:
        raise TypeError(f"arrays on DLPack's device {kind} cannot be passed")
    target = TARGETS.get(kind, "")
    return View(DEVICE if target else HOST, pointer, tuple(shape), tuple(strides),
                names[0] if names else f"DLPack's type {code} of {bits} bits", target, ordinal, keep)


def _torch_stream(stream: int, ordinal: int) -> Any:
    """A caller's stream as a PyTorch stream object."""
    cuda = sys.modules["torch"].cuda
    # ExternalStream(0) would be a new stream.
    return cuda.ExternalStream(stream, device=ordinal) if stream else cuda.default_stream(ordinal)


def record_stream(values: Sequence[Any], stream: int, ordinal: int) -> None:
    """Makes PyTorch's allocator keep the memory of dropped tensors until the work queued on `stream` is
    done: the allocator itself only tracks the stream on which it allocated the memory."""
    own = None
    for value in values:
        if is_torch(value) and value.is_cuda:
            own = own or _torch_stream(stream, ordinal)
            value.record_stream(own)


def current_stream(values: Sequence[Any], target: str, ordinal: int) -> Optional[int]:
    """The current stream of the arguments' package; None if it has none."""
    for value in values:
        if is_torch(value) and value.is_cuda:
            return sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream
        if target == "cuda" and is_cupy(value):
            return sys.modules["cupy"].cuda.get_current_stream().ptr
    return None


def numpy_type(element: int) -> np.dtype:
    """The NumPy type of an element; ml_dtypes provides the types that NumPy lacks."""
    name = ELEMENTS[element][1]
    if name == "int4":
        raise TypeError("results of i4 cannot be returned as NumPy arrays")
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"NumPy does not support {name}; install the package ml_dtypes") from None
    return np.dtype(getattr(ml_dtypes, name))


def wrap(buffer: Any, element: int, shape: Sequence[int], target: str, ordinal: int,
         package: str, stream: Optional[int] = None) -> Any:
    """A result left on the device: an array of PyTorch or CuPy, or an array with `__dlpack__`.

    With `stream`, a result that is PyTorch's gets memory of PyTorch's allocator for that stream:
    `record_stream` has no effect on memory of anybody else's.
    """
    _, name, code, bits = ELEMENTS[element]
    kind = {"cuda": DLPACK_CUDA, "hip": DLPACK_ROCM}[target]
    if package != "torch":
        array = _core.to_array(buffer, code, bits, list(shape), kind, ordinal)
        return sys.modules["cupy"].from_dlpack(array) if package == "cupy" else array
    torch = sys.modules["torch"]
    if bits == 8 and code >= 10:
        # PyTorch takes bytes, and its own type for them.
        raw = torch.from_dlpack(_core.to_array(buffer, 1, 8, list(shape), kind, ordinal))
        result = raw.view(getattr(torch, name))
    else:
        result = torch.from_dlpack(_core.to_array(buffer, code, bits, list(shape), kind, ordinal))
    if stream is None:
        return result
    with torch.cuda.stream(_torch_stream(stream, ordinal)):
        return result.clone()
