# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch modules as programs, through PyTorch's own ONNX exporter.

    gm of Dynamo    --torch.export-->  ExportedProgram  --torch.onnx-->  ONNX model
    parameters are inputs of the model --tessera.onnx-->  program

A parameter is never data of the ONNX model: each call passes the module's own tensors.
"""

from __future__ import annotations

import copy
import logging
import re
import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import torch
from torch.utils import _pytree as pytree

from . import onnx as tessera_onnx
from ._program import CompileError

_log = logging.getLogger("tessera.torch")


class FallbackWarning(UserWarning):
    """A graph that ``torch.compile(backend="tessera")`` leaves to PyTorch; the text has the reason."""


class UnsupportedError(RuntimeError):
    """A graph that cannot be compiled, with ``options={"fallback": False}``."""


class _Unsupported(Exception):
    """The reason why a graph is left to PyTorch."""


@dataclass
class _Options:
    """The options of ``torch.compile(backend="tessera")``."""

    fallback: bool = True
    target: Optional[str] = None
    load: Dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def parse(given: Optional[Mapping[str, Any]]) -> "_Options":
        options = _Options()
        known = ("fallback", "target", "allow_tf32", "allow_fast_f8", "require_mma", "schedule_db",
                 "flags")
        for name, value in (given or {}).items():
            if name not in known:
                raise ValueError(f"the backend tessera has no option '{name}': its options are "
                                 f"{', '.join(known)}")
            if name in ("fallback", "target"):
                setattr(options, name, value)
            else:
                options.load[name] = value
        return options


def _find_target(tensors: Sequence[torch.Tensor]) -> str:
    """The target of the device of the tensors. Scalars may be on the host."""
    kinds = {tensor.device.type for tensor in tensors if tensor.dim() > 0}
    kinds = kinds or {tensor.device.type for tensor in tensors}
    if len(kinds) != 1:
        raise _Unsupported(f"its tensors are on several devices: {', '.join(sorted(kinds))}")
    kind = kinds.pop()
    if kind == "cuda":
        return "hip" if torch.version.hip else "cuda"
    if kind != "cpu":
        raise _Unsupported(f"the device '{kind}' is not supported")
    return "cpu"


# --- To ONNX -----------------------------------------------------------------------------------------


def _to_onnx(exported: torch.export.ExportedProgram, lifted: Sequence[str]) -> Any:
    """The model of a program, as an ONNX IR. The initializers of the names in `lifted` become inputs
    after the others, without data."""
    try:
        import onnxscript.optimizer
    except ImportError as error:
        raise ImportError("tessera.torch.load and torch.compile(backend='tessera') require the package "
                          f"onnxscript: {error}") from None
    with warnings.catch_warnings():
        # They concern the exporter's own code.
        warnings.simplefilter("ignore")
        program = torch.onnx.export(exported, (), dynamo=True, optimize=False, verbose=False)
        assert program is not None
        graph = program.model.graph
        for name in lifted:
            # The exporter leaves out tensors that no node uses.
            value = graph.initializers.pop(name, None)
            if value is not None:
                value.const_value = None
                graph.inputs.append(value)
        onnxscript.optimizer.optimize_ir(program.model)
    for value in [*graph.inputs, *graph.outputs]:
        # The exporter names sizes that it has proved to be constant: "3".
        for dim, size in enumerate(value.shape or ()):
            if str(size).isdigit():
                value.shape[dim] = int(str(size))
    return program.model


def _serialize(model: Any) -> bytes:
    import onnx_ir

    return onnx_ir.serde.serialize_model(model).SerializeToString()


def _describe_failure(error: BaseException) -> str:
    """The operators of an error of the exporter or the importer, or its first line."""
    chain: List[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    for one in chain:
        text = str(one)
        if isinstance(one, CompileError) and "cannot be imported" in text:
            names = re.findall(r"^\s*node .* \((\S+)\) ", text, flags=re.MULTILINE)
            return f"operators of ONNX that are not supported: {', '.join(dict.fromkeys(names))}"
        missing = re.findall(
            r"No ONNX function found for <OpOverload\(op='([^']+)', overload='([^']+)'", text)
        if missing:
            names = [f"{op}.{overload}" for op, overload in missing]
            return f"operators without a form in ONNX: {', '.join(dict.fromkeys(names))}"
    return next((line for one in chain for line in str(one).splitlines() if line.strip()),
                type(chain[0]).__name__)


# --- Programs ----------------------------------------------------------------------------------------


class _Callee:
    """A compiled model on tensors."""

    def __init__(self, model: tessera_onnx.Model, exported: torch.export.ExportedProgram,
                 lifted: Mapping[str, torch.Tensor]) -> None:
        self.model = model
        users = [spec.arg.name for spec in exported.graph_signature.input_specs
                 if spec.kind == torch.export.graph_signature.InputKind.USER_INPUT]
        #: For each input of the model: the position of an argument, or a tensor.
        self.sources: List[Any] = [
            lifted[value.name] if value.name in lifted else users.index(value.name)
            for value in model.inputs]

    def __call__(self, arguments: Sequence[Any]) -> Tuple[Any, ...]:
        tensors = []
        for source in self.sources:
            value = arguments[source] if isinstance(source, int) else source
            if not value.is_contiguous():
                value = value.contiguous()
            tensors.append(value)
        results = self.model.program.call_below_autograd("main", *tensors)
        return results if isinstance(results, tuple) else (results,)


def _check_signature(signature: torch.export.ExportGraphSignature) -> None:
    """Rejects programs that do more than return tensors."""
    kinds = torch.export.graph_signature
    for spec in signature.output_specs:
        if spec.kind != kinds.OutputKind.USER_OUTPUT:
            raise _Unsupported(f"it writes '{spec.target or spec.arg.name}' in place")
        if not isinstance(spec.arg, kinds.TensorArgument):
            raise _Unsupported("it returns something else than tensors")


def _lift(exported: torch.export.ExportedProgram) -> Dict[str, torch.Tensor]:
    """The parameters and buffers of a program, which are the module's own tensors."""
    kinds = torch.export.graph_signature.InputKind
    lifted = {}
    for spec in exported.graph_signature.input_specs:
        if spec.kind in (kinds.PARAMETER, kinds.BUFFER):
            tensors = exported.state_dict if spec.target in exported.state_dict else exported.constants
            lifted[spec.target] = tensors[spec.target]
    return lifted


def _compile_exported(exported: torch.export.ExportedProgram, target: str,
                      options: Mapping[str, Any]) -> _Callee:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Only a functional program lists what is written.
        exported = exported.run_decompositions({})
    _check_signature(exported.graph_signature)
    lifted = _lift(exported)
    model = _to_onnx(exported, list(lifted))
    middle = time.perf_counter()
    compiled = tessera_onnx.load(_serialize(model), target, **options)
    _log.info("a graph of %d nodes of ONNX for %s: exported in %.1f s, compiled in %.1f s",
              len(model.graph), target, middle - begin, time.perf_counter() - middle)
    return _Callee(compiled, exported, lifted)


class ExportedModule:
    """A compiled ``torch.export`` program; ``load`` makes one.

    Calling it takes and returns what the exported module does. ``model`` is the ``tessera.onnx.Model``,
    whose last inputs are the parameters and buffers.
    """

    def __init__(self, exported: torch.export.ExportedProgram, callee: _Callee) -> None:
        self._callee = callee
        self._in_spec, self._out_spec = exported.call_spec.in_spec, exported.call_spec.out_spec
        self._keywords = list((exported.example_inputs or ((), {}))[1])
        self.model = callee.model

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        flat, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._in_spec:
            # Another order of keyword arguments is the same call.
            if set(self._keywords) == set(kwargs):
                flat, spec = pytree.tree_flatten((args, {name: kwargs[name] for name in self._keywords}))
        if spec != self._in_spec:
            raise TypeError("the arguments are nested differently than those that the module was "
                            f"exported with: {spec} instead of {self._in_spec}")
        if torch.is_grad_enabled() and any(
                isinstance(value, torch.Tensor) and value.requires_grad for value in flat):
            raise RuntimeError("an argument requires a gradient, but the program has no derivative: call "
                               "it under torch.no_grad()")
        return pytree.tree_unflatten(list(self._callee(flat)), self._out_spec)


def load(exported: torch.export.ExportedProgram, target: Optional[str] = None,
         **options: Any) -> ExportedModule:
    """Compiles a program of ``torch.export`` and returns a callable with the exported module's arguments
    and results.

    The program is exported to ONNX (packages onnx and onnxscript), where parameters and buffers are
    inputs: each call passes the module's tensors, so that their contents may change. ``target`` defaults
    to that of the parameters' device. ``options`` are those of ``tessera.onnx.load`` (``allow_tf32``,
    ``schedule_db``, ``flags``). Dynamic dimensions of the program are dynamic.

    Raises ``tessera.CompileError``, or the exporter's error, for operators that are not supported, and
    ``UnsupportedError`` for programs that write tensors in place.
    """
    unknown = set(options) - {"allow_tf32", "allow_fast_f8", "require_mma", "schedule_db", "flags"}
    if unknown:
        raise TypeError(f"unexpected keyword argument '{sorted(unknown)[0]}'")
    try:
        if target is None:
            tensors = list(exported.state_dict.values())
            if not tensors:
                tensors = [value for value in pytree.tree_leaves(exported.example_inputs)
                           if isinstance(value, torch.Tensor)]
            target = _find_target(tensors) if tensors else "cpu"
        return ExportedModule(exported, _compile_exported(exported, target, options))
    except _Unsupported as why:
        raise UnsupportedError(f"the program cannot be compiled: {why}") from None


# --- torch.compile -----------------------------------------------------------------------------------


def _example(node: torch.fx.Node) -> Any:
    """The fake value that Dynamo has computed for a node, with symbolic sizes."""
    return node.meta.get("example_value")


def _is_symbolic(size: Any) -> bool:
    """Whether a size is not one that Dynamo has proved to be constant."""
    return isinstance(size, torch.SymInt) and not size.node.expr.is_number


def _check_outputs(graph: torch.fx.Graph) -> None:
    """Rejects graphs whose results are not new tensors: a program returns memory of its own."""
    inputs = {}
    for node in graph.nodes:
        value = _example(node)
        if node.op == "placeholder" and isinstance(value, torch.Tensor):
            inputs[value.untyped_storage()._cdata] = node.name
    for output in pytree.tree_leaves(graph.output_node().args):
        if not isinstance(output, torch.fx.Node):
            if output is not None:
                raise _Unsupported("it returns something else than tensors")
            continue
        value = _example(output)
        if not isinstance(value, torch.Tensor):
            raise _Unsupported(f"it returns '{output.name}', which is not a tensor")
        name = inputs.get(value.untyped_storage()._cdata)
        if name is not None and output.op != "placeholder":
            raise _Unsupported(f"it returns '{output.name}', a view of the input '{name}'")


class _Graph:
    """A graph of Dynamo, which is compiled for the sizes and numbers that occur."""

    def __init__(self, gm: torch.fx.GraphModule, examples: Sequence[Any], options: _Options) -> None:
        self._gm, self._options = gm, options
        placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
        self._names = [node.name for node in placeholders]
        #: Positions of numbers, which are constants of a program; sizes are those of tensors.
        self._numbers = [index for index, node in enumerate(placeholders)
                         if not isinstance(_example(node), (torch.Tensor, torch.SymInt))
                         or _is_number(node)]
        self._sizes = self._find_sizes(placeholders)
        self._numbers += [index for index, node in enumerate(placeholders)
                          if isinstance(_example(node), torch.SymInt) and index not in self._sizes]
        self._dynamic = [
            {} if not isinstance(_example(node), torch.Tensor) else
            {dim: torch.export.Dim.DYNAMIC for dim, size in enumerate(_example(node).shape)
             if _is_symbolic(size)}
            for node in placeholders]
        #: Whether one program serves all sizes.
        self._is_symbolic = any(self._dynamic)
        outputs = pytree.tree_leaves(gm.graph.output_node().args)
        #: Inputs that are returned as they are, by the position of the output; None for others.
        self._returned = [placeholders.index(node) if node in placeholders else None for node in outputs]
        self._is_computed = [isinstance(node, torch.fx.Node) for node in outputs]
        self._callees: Dict[Tuple[Any, ...], Optional[_Callee]] = {}
        _check_outputs(gm.graph)
        self._find(examples)

    @staticmethod
    def _find_sizes(placeholders: Sequence[torch.fx.Node]) -> Dict[int, Tuple[int, int]]:
        """For the inputs that are the size of a tensor: the position of the tensor and the dimension."""
        found: Dict[Any, Tuple[int, int]] = {}
        for index, node in enumerate(placeholders):
            value = _example(node)
            if isinstance(value, torch.Tensor):
                for dim, size in enumerate(value.shape):
                    if _is_symbolic(size):
                        found.setdefault(size.node.expr, (index, dim))
        return {index: found[_example(node).node.expr] for index, node in enumerate(placeholders)
                if isinstance(_example(node), torch.SymInt) and _example(node).node.expr in found}

    def _key(self, arguments: Sequence[Any]) -> Tuple[Any, ...]:
        numbers = tuple(_to_number(arguments[index]) for index in self._numbers)
        if self._is_symbolic:
            return numbers
        return (*numbers, *(value.shape for value, dims in zip(arguments, self._dynamic) if dims))

    def _prepare(self, arguments: Sequence[Any]) -> torch.fx.GraphModule:
        """The graph with numbers as constants and sizes as those of tensors."""
        graph = copy.deepcopy(self._gm.graph)
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        first = next(node for node in graph.nodes if node.op != "placeholder")
        for index in self._numbers:
            number = _to_number(arguments[index])
            node = placeholders[index]
            for user in list(node.users):
                if isinstance(arguments[index], torch.Tensor) and user.op == "call_method" and (
                        user.target == "item"):
                    user.replace_all_uses_with(number)
                    graph.erase_node(user)
            if not isinstance(arguments[index], torch.Tensor):
                node.replace_all_uses_with(number)
        for index, (tensor, dim) in self._sizes.items():
            if placeholders[index].users:
                with graph.inserting_before(first):
                    size = graph.call_function(torch.ops.aten.sym_size.int, (placeholders[tensor], dim))
                placeholders[index].replace_all_uses_with(size)
        for node in placeholders:
            if not node.users and not isinstance(_example(node), torch.Tensor):
                graph.erase_node(node)
        # Only what is computed is a result of the program.
        output = graph.output_node()
        kept = [node for node, position in zip(pytree.tree_leaves(output.args), self._returned)
                if position is None and isinstance(node, torch.fx.Node)]
        output.args = (tuple(kept),)
        return torch.fx.GraphModule(self._gm, graph)

    def _compile(self, arguments: Sequence[Any]) -> _Callee:
        gm = self._prepare(arguments)
        names = {node.name for node in gm.graph.nodes if node.op == "placeholder"}
        kept = [index for index, name in enumerate(self._names) if name in names]
        # Other objects, because the exporter marks dimensions of its examples as dynamic.
        tensors = [arguments[index].detach() for index in kept]
        if not tensors:
            raise _Unsupported("it has no tensors as inputs")
        target = self._options.target or _find_target(tensors)
        dynamic = tuple(self._dynamic[index] if self._is_symbolic else {} for index in kept)
        # The exporter traces in a context of its own: torch.compile(dynamic=True) changes the defaults.
        defaults = torch._dynamo.config.patch(assume_static_by_default=True, specialize_float=True)
        with torch._guards.tracing(None), defaults, torch.no_grad():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exported = torch.export.export(gm, tuple(tensors),
                                               dynamic_shapes=dynamic if any(dynamic) else None)
            callee = _compile_exported(exported, target, self._options.load)
        callee.sources = [kept[source] if isinstance(source, int) else source
                          for source in callee.sources]
        return callee

    def _find(self, arguments: Sequence[Any]) -> Optional[_Callee]:
        """The program for the arguments; None if the graph is left to PyTorch."""
        key = self._key(arguments)
        if key in self._callees:
            return self._callees[key]
        callee: Optional[_Callee] = None
        try:
            callee = self._compile(arguments)
        except (ImportError, KeyboardInterrupt):
            raise
        except Exception as error:
            reason = str(error) if isinstance(error, _Unsupported) else _describe_failure(error)
            if self._is_symbolic and not isinstance(error, _Unsupported):
                # Operands that decide shapes must be constant: with static sizes they are.
                _log.info("a graph is compiled for each set of sizes, because with symbolic sizes: %s",
                          reason)
                self._is_symbolic = False
                return self._find(arguments)
            if not self._options.fallback:
                raise UnsupportedError(f"a graph cannot be compiled: {reason}") from error
            _warn(reason)
        self._callees[key] = callee
        return callee

    def __call__(self, *arguments: Any) -> Any:
        callee = self._find(arguments)
        if callee is None or _requires_gradient(arguments):
            if callee is not None:
                _reject_gradient(self._options)
            return self._gm(*arguments)
        computed = iter(callee(arguments))
        return tuple(arguments[position] if position is not None else next(computed) if is_computed
                     else None for position, is_computed in zip(self._returned, self._is_computed))


def _is_number(node: torch.fx.Node) -> bool:
    """Whether a tensor of rank 0 is only read as a number: with dynamic=True, Dynamo passes floating-point
    attributes so."""
    value = _example(node)
    return isinstance(value, torch.Tensor) and value.dim() == 0 and value.device.type == "cpu" and bool(
        node.users) and all(user.op == "call_method" and user.target == "item" for user in node.users)


def _to_number(value: Any) -> Any:
    return value.item() if isinstance(value, torch.Tensor) else value


def _requires_gradient(arguments: Sequence[Any]) -> bool:
    return torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in arguments)


def _warn(reason: str) -> None:
    warnings.warn(f"tessera: a graph is left to PyTorch: {reason}", FallbackWarning, stacklevel=2)


_NO_DERIVATIVE = ("its inputs require a gradient, and programs are forward only: compile it under "
                  "torch.no_grad()")


def _reject_gradient(options: _Options) -> None:
    if not options.fallback:
        raise UnsupportedError(f"a graph cannot be compiled: {_NO_DERIVATIVE}")
    _warn(_NO_DERIVATIVE)


def compile_graph(gm: torch.fx.GraphModule, examples: Sequence[Any], *, mode: Optional[str] = None,
                  options: Optional[Mapping[str, Any]] = None) -> Callable[..., Any]:
    """The backend of ``torch.compile(backend="tessera")``; docs/Models.md describes its options."""
    own = _Options.parse(options)
    if mode not in (None, "default"):
        raise ValueError(f"the backend tessera has no mode '{mode}'")
    if not any(node.op not in ("placeholder", "output", "get_attr") for node in gm.graph.nodes):
        return gm
    if _requires_gradient(examples):
        _reject_gradient(own)
        return gm
    try:
        return _Graph(gm, examples, own)
    except _Unsupported as why:
        if not own.fallback:
            raise UnsupportedError(f"a graph cannot be compiled: {why}") from None
        _warn(str(why))
        return gm
