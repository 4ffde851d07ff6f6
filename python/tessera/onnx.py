# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models as programs.

    import tessera.onnx

    model = tessera.onnx.load("resnet50.onnx", target="cuda")
    print(model.inputs, model.outputs)
    scores = model(image)                   # or model(data=image), model({"data": image})

``load`` needs neither the package onnx nor protobuf. ``Backend`` is the class that ONNX's own tests
(``onnx.backend.test``) run; it needs the package onnx. docs/Models.md lists the operators.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays, _core
from ._program import Program, Slot, _join_flags

if TYPE_CHECKING:
    from ._onnx_backend import Backend, BackendRep

__all__ = ["Backend", "BackendRep", "Model", "Value", "load"]

_NUMPY_NAMES = dict(_arrays.ELEMENTS)


@dataclass(frozen=True)
class Value:
    """An input or an output of a model."""

    name: str
    #: The element type, as NumPy or ml_dtypes has it: "float32", "bfloat16", "uint8", "bool".
    type: str
    #: A name or None for a dynamic dimension.
    shape: Tuple[Union[int, str, None], ...]

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.name}: {self.type}[{sizes}]"


def _value(slot: Slot) -> Value:
    symbols = slot.symbols or ("",) * len(slot.shape)
    return Value(slot.name, _NUMPY_NAMES[slot.element],
                 tuple(size if size >= 0 else symbol or None
                       for size, symbol in zip(slot.shape, symbols)))


class Model:
    """A compiled model; ``load`` makes one.

    Calling it runs the model on arrays of NumPy, PyTorch, CuPy, or any package with ``__dlpack__``:
    in the order of ``inputs``, by name, or in one mapping from names to arrays (which any name may
    be in). Returns the output, or a tuple of several in the order of ``outputs``. ``stream`` and the
    packages of the results are those of ``tessera.Entry``. Elements are not converted: another type
    than the model's raises ``TypeError``.
    """

    def __init__(self, program: Program) -> None:
        #: The program, whose entry point is "main". Its ``save`` writes a bundle, which
        #: ``tessera.load`` and gpu-runner load without the model's file.
        self.program = program
        signature = program.signatures["main"]
        self.inputs: Tuple[Value, ...] = tuple(_value(slot) for slot in signature.arguments)
        self.outputs: Tuple[Value, ...] = tuple(_value(slot) for slot in signature.results)
        self._positions = {value.name: index for index, value in enumerate(self.inputs)}

    def _order(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> List[Any]:
        """The arguments in the order of the inputs."""
        missing = object()
        ordered = [*arrays, *[missing] * (len(self.inputs) - len(arrays))]
        for name, array in named.items():
            position = self._positions.get(name)
            if position is None:
                raise TypeError(f"the model has no input '{name}': its inputs are "
                                f"{', '.join(self._positions)}")
            if ordered[position] is not missing:
                raise TypeError(f"the input '{name}' is given twice")
            ordered[position] = array
        absent = [value.name for value, array in zip(self.inputs, ordered) if array is missing]
        if absent:
            raise TypeError(f"no array for the input{'s' if len(absent) > 1 else ''} "
                            f"{', '.join(absent)}")
        return ordered

    def __call__(self, *arrays: Any, stream: Optional[int] = None, **named: Any) -> Any:
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            named = {**arrays[0], **named}
            arrays = ()
        if named or len(arrays) < len(self.inputs):
            arrays = tuple(self._order(arrays, named))
        return self.program(*arrays, entry="main", stream=stream)

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<tessera.onnx.Model for {', '.join(self.program.targets)}: ({inputs}) -> ({outputs})>"


def _fix_inputs(model: Any, constants: Mapping[str, Any]) -> bytes:
    """The model with some inputs as initializers, serialized."""
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError:
        raise ImportError("constants= requires the package onnx") from None
    import numpy as np

    proto = onnx.ModelProto()
    if isinstance(model, (bytes, bytearray, memoryview)):
        proto.ParseFromString(bytes(model))
    elif hasattr(model, "SerializeToString"):
        proto.CopyFrom(model)
    else:
        # External data is loaded: the serialized model has no folder.
        proto = onnx.load(os.fspath(model))
    inputs = {value.name: value for value in proto.graph.input}
    for name, array in constants.items():
        if name not in inputs:
            raise ValueError(f"constants: the model has no input '{name}': its inputs are "
                             f"{', '.join(inputs)}")
        proto.graph.input.remove(inputs[name])
        proto.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return proto.SerializeToString()


def load(model: Any, target: str = "cpu", *, batch: Optional[int] = None,
         constants: Optional[Mapping[str, Any]] = None, allow_tf32: bool = False,
         allow_fast_f8: bool = False, require_mma: bool = False,
         schedule_db: Union[str, "os.PathLike[str]", None] = None,
         flags: Union[str, Sequence[str]] = ()) -> Model:
    """Compiles an ONNX model, given as a path, as bytes, or as an ``onnx.ModelProto``.

    ``target`` and the other options are those of ``tessera.compile``. A model in a file is mapped, not
    read; its external data must be below its folder. A model in memory must not have external data.
    ``batch`` is the size of the first dimension of each input that leaves it open; without it the
    arrays of a call decide. ``constants`` maps names of inputs to arrays that become part of the model
    (needs the package onnx): inputs that decide shapes must be constant.

    Raises ``tessera.CompileError`` for a corrupt model and for operators that are not supported, all of
    which it lists.
    """
    if constants:
        model = _fix_inputs(model, constants)
    elif hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if batch is not None and batch < 1:
        raise ValueError(f"batch must be positive, not {batch}")
    # The text of a module has all weights in hexadecimal.
    options = _core.Options(target, None, "", None if schedule_db is None else os.fspath(schedule_db),
                            _join_flags(flags, allow_tf32=allow_tf32, allow_fast_f8=allow_fast_f8,
                                        require_mma=require_mma),
                            is_model=True, batch=batch or 0, omit_source=True)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Model(Program(_core.compile(bytes(model), options)))
    return Model(Program(_core.compile_file(os.fspath(model), options)))


def __getattr__(name: str) -> Any:
    # They derive from classes of the package onnx.
    if name in ("Backend", "BackendRep"):
        from . import _onnx_backend

        return getattr(_onnx_backend, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
