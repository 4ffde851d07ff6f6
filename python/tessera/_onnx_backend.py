# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend that ONNX's own tests run."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np
import onnx
import onnx.backend.base
from onnx import helper

from ._program import CompileError, Device, Error
from .onnx import Model, load

#: The types of which a model has one element in each byte: ml_dtypes' names, the type of the bytes,
#: and the bits that belong to the element.
_IN_BYTES = {"int2": ("int8", 3), "uint2": ("uint8", 3), "int4": ("int8", 15), "uint4": ("uint8", 15),
             "float4_e2m1fn": ("uint8", 15), "float8_e8m0fnu": ("uint8", 255)}


class BackendRep(onnx.backend.base.BackendRep):
    """A model that is prepared for a device."""

    def __init__(self, proto: onnx.ModelProto, options: Dict[str, Any]) -> None:
        self._proto, self._options = proto, options
        self._inputs = [value.name for value in proto.graph.input
                        if value.name not in {tensor.name for tensor in proto.graph.initializer}]
        #: The inputs that are part of the compiled model, because shapes depend on their contents.
        self.fixed: Tuple[str, ...] = ()
        self._fixed_models: Dict[Tuple[Any, ...], Model] = {}
        self._result_types = [
            helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            if value.type.tensor_type.elem_type else None for value in proto.graph.output]
        self._model: Optional[Model] = None
        try:
            self._model = load(proto, **options)
        except CompileError as error:
            if "must be constant" not in str(error):
                raise
            self.fixed = tuple(value.name for value in proto.graph.input
                               if value.name in self._inputs and _may_decide_shapes(value))
            if not self.fixed:
                raise

    def _find_model(self, arrays: Dict[str, Any]) -> Model:
        """The model for the contents of the inputs that decide shapes."""
        if self._model:
            return self._model
        constants = {name: np.asarray(arrays[name]) for name in self.fixed}
        key = tuple((array.shape, array.tobytes()) for array in constants.values())
        if key not in self._fixed_models:
            self._fixed_models[key] = load(self._proto, constants=constants, **self._options)
        return self._fixed_models[key]

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[Any, ...]:
        """Runs the model on arrays in the order of its inputs, or by name. Returns a tuple of arrays.
        Arrays that are not dense are copied. Arrays of fewer than 8 bits are those of ml_dtypes."""
        if isinstance(inputs, dict):
            arrays = dict(inputs)
        else:
            if len(inputs) != len(self._inputs):
                raise ValueError(f"the model has {len(self._inputs)} inputs, but {len(inputs)} were given")
            arrays = dict(zip(self._inputs, inputs))
        model = self._find_model(arrays)
        own = {name: _dense(array) for name, array in arrays.items() if name not in self.fixed
               or self._model}
        results = model(own)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(_restore(array, type) for array, type in zip(results, self._result_types))


def _may_decide_shapes(value: onnx.ValueInfoProto) -> bool:
    """Whether an input may be a shape, an axis, a size, a pad, a scale or another operand that must be
    constant: integers, and vectors and scalars of other types."""
    type = value.type.tensor_type
    return type.elem_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32) or (
        type.elem_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16,
                           onnx.TensorProto.BOOL)
        and len(type.shape.dim) <= 1)


def _dense(array: Any) -> Any:
    if isinstance(array, (np.ndarray, np.generic, int, float, bool)):
        array = np.asarray(array)
        array = array if array.flags.c_contiguous else np.ascontiguousarray(array)
        bytes_type, _ = _IN_BYTES.get(array.dtype.name, (None, None))
        return array if bytes_type is None else array.view(bytes_type)
    return array


def _restore(array: Any, type: Optional[np.dtype]) -> Any:
    """A result of a type that is computed in bytes."""
    if type is None or type.name not in _IN_BYTES or not isinstance(array, np.ndarray):
        return array
    _, mask = _IN_BYTES[type.name]
    return (array.view(np.uint8) & np.uint8(mask)).view(type)


class Backend(onnx.backend.base.Backend):
    """Tessera as a backend of ONNX: ``onnx.backend.test.BackendTest(tessera.onnx.Backend, ...)``.

    The device "CPU" is the target cpu, "CUDA" the target cuda. A derived class may set ``target`` to
    another one ("vulkan", "opencl"), which then is used for each device. Where shapes depend on the
    contents of inputs, ``prepare`` succeeds and ``run`` compiles the model for their contents.
    """

    #: The target of all devices; None to go by the device.
    target: Optional[str] = None

    @classmethod
    def _find_target(cls, device: str) -> str:
        if cls.target is not None:
            return cls.target
        kind, _, ordinal = device.partition(":")
        if ordinal not in ("", "0"):
            raise ValueError(f"device '{device}': only the first device of a target is supported")
        return kind.lower()

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the model compiles for the device."""
        try:
            cls.prepare(model, device, **kwargs)
        except (CompileError, ValueError):
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """Compiles a model. ``kwargs`` are options of ``tessera.onnx.load``. Raises
        ``tessera.CompileError`` if it cannot be compiled."""
        super().prepare(model, device)
        return BackendRep(model, {"target": cls._find_target(device), **kwargs})

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU",
                  **kwargs: Any) -> Tuple[Any, ...]:
        """Compiles a model and runs it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU",
                 outputs_info: Optional[Sequence[Tuple[Any, Tuple[int, ...]]]] = None,
                 **kwargs: Any) -> Tuple[Any, ...]:
        """Runs one node on arrays: the model of it alone. ``outputs_info`` has the element type and the
        shape of each output, and ``opset_version`` the operator set (the newest one of the package
        onnx)."""
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        names = list(dict.fromkeys(name for name in node.input if name))
        arrays = dict(inputs) if isinstance(inputs, dict) else dict(
            zip([name for name in node.input if name], inputs))
        described = []
        for name in names:
            array = arrays[name] = np.asarray(arrays[name])
            described.append(helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        outputs = []
        for index, name in enumerate(name for name in node.output if name):
            if outputs_info is None:
                outputs.append(onnx.ValueInfoProto(name=name))
            else:
                type, shape = outputs_info[index]
                outputs.append(helper.make_tensor_value_info(
                    name, helper.np_dtype_to_tensor_dtype(np.dtype(type)), shape))
        graph = helper.make_graph([node], "node", described, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, version)])
        rep = BackendRep(model, {"target": cls._find_target(device), **kwargs})
        return rep.run([arrays[name] for name in names])

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether this machine has the device."""
        try:
            Device.get(cls._find_target(device))
        except (Error, ValueError):
            return False
        return True
