# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rare steps of a call; the others are in C++ (src/Arrays.cpp, src/Call.cpp)."""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any, Dict, Sequence, Union

import numpy as np

from . import _core

#: By the numbers of TesseraElementType: the name in MLIR, and NumPy's (ml_dtypes' where NumPy has
#: none).
ELEMENTS = _core.ELEMENTS

# Scalars, as struct packs them; the others go by NumPy.
_FORMATS: Dict[str, str] = {
    "f32": "f", "f64": "d", "i8": "b", "ui8": "B", "i16": "h", "i32": "i", "i64": "q", "index": "q",
    "i1": "?", "f16": "e"}


def pack_scalar(element: int, value: Any) -> Union[bytes, str]:
    """The bytes of a number, or the reason why it cannot be passed."""
    format = _FORMATS.get(ELEMENTS[element][0])
    try:
        if format:
            return struct.pack(format, value)
        return np.asarray(value, numpy_type(element)).tobytes()
    except (struct.error, TypeError, ValueError, OverflowError) as error:
        return f"{value!r} is not a valid number: {error}"


def unpack_scalar(element: int, data: bytes) -> Any:
    """The number whose bytes `data` begins with."""
    return np.frombuffer(data, numpy_type(element), 1).reshape(()).item()


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


def device_of_pointer(pointer: int) -> int:
    """The number of the CUDA device that memory belongs to; -1 if it is none's."""
    if not pointer:
        return 0
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return -1
    # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    ordinal = ctypes.c_int()
    status = driver.cuPointerGetAttribute(ctypes.byref(ordinal), 9, ctypes.c_void_p(pointer))
    return ordinal.value if status == 0 else -1


def _torch_stream(stream: int, ordinal: int) -> Any:
    """A caller's stream as a PyTorch stream object."""
    cuda = sys.modules["torch"].cuda
    # ExternalStream(0) would be a new stream.
    return cuda.ExternalStream(stream, device=ordinal) if stream else cuda.default_stream(ordinal)


def record_stream(values: Sequence[Any], stream: int, ordinal: int) -> None:
    """Makes PyTorch's allocator keep the memory of dropped tensors until the work queued on `stream` is
    done: the allocator itself only tracks the stream on which it allocated the memory."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    own = None
    for value in values:
        if isinstance(value, torch.Tensor) and value.is_cuda:
            own = own or _torch_stream(stream, ordinal)
            value.record_stream(own)


def empty_in_stream(is_torch: bool, shape: Sequence[int], element: int, stream: int,
                    ordinal: int) -> Any:
    """An array of PyTorch or CuPy for a result, allocated for the work queued on a caller's stream."""
    if is_torch:
        torch = sys.modules["torch"]
        with torch.cuda.stream(_torch_stream(stream, ordinal)):
            return torch.empty(shape, dtype=getattr(torch, ELEMENTS[element][1]), device=ordinal)
    cupy = sys.modules["cupy"]
    # ExternalStream(0) would be a new stream.
    with cupy.cuda.ExternalStream(stream, ordinal) if stream else cupy.cuda.Stream.null:
        return cupy.empty(shape, dtype=numpy_type(element))
