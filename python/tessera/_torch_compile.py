# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch modules as programs, through PyTorch's own ONNX exporter.

    gm of Dynamo    --torch.export-->  ExportedProgram  --torch.onnx-->  ONNX model
    parameters are inputs of the model --tessera.onnx-->  program

A parameter is never data of the ONNX model: each call passes the module's own tensors.

A graph with operators that cannot be compiled is partitioned by torch.fx's
CapabilityBasedPartitioner. Which operators these are follows from the errors of the exporter and the
importer: the nodes of the graph that an error is about are left to PyTorch, and the rest is tried
again.
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
    """A graph, or a part of one, that ``torch.compile(backend="tessera")`` leaves to PyTorch; the text
    has the reason."""


class UnsupportedError(RuntimeError):
    """A graph that cannot be compiled, with ``options={"fallback": False}``."""


class _Unsupported(Exception):
    """The reason why a graph is left to PyTorch. ``culprits`` are the names of the nodes of Dynamo's
    graph that cannot be compiled, where they are known."""

    def __init__(self, reason: str, culprits: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.culprits = list(culprits)


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


def _get_chain(error: Optional[BaseException]) -> List[BaseException]:
    """An error and those that caused it."""
    chain: List[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


#: How reasons begin that are the same for all sizes.
_MISSING = ("operators of ONNX that are not supported: ", "operators without a form in ONNX: ")


def _describe_failure(error: BaseException) -> str:
    """The operators of an error of the exporter or the importer, or its first line."""
    chain = _get_chain(error)
    for one in chain:
        text = str(one)
        if isinstance(one, CompileError) and "cannot be imported" in text:
            names = re.findall(r"^\s*node .* \((\S+)\) ", text, flags=re.MULTILINE)
            return f"{_MISSING[0]}{', '.join(dict.fromkeys(names))}"
        names = _find_missing(text)
        if names:
            return f"{_MISSING[1]}{', '.join(dict.fromkeys(names))}"
    return next((line for one in chain for line in str(one).splitlines() if line.strip()),
                type(chain[0]).__name__)


def _find_missing(text: str) -> List[str]:
    """The operators that the exporter has no function for: "aten.special_bessel_j0.default"."""
    missing = re.findall(
        r"No ONNX function found for <OpOverload\(op='([^']+)', overload='([^']+)'", text)
    return [f"{op}.{overload}" for op, overload in missing]


def _get_origins(node: torch.fx.Node) -> List[str]:
    """The names that a node of an exported program had in the graphs that it was made from."""
    names, sources = [], list(node.meta.get("from_node", ()))
    while sources:
        source = sources.pop()
        names.append(source.name)
        sources += source.from_node
    return names


def _decompose(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program as the exporter translates it, which it does not return if it fails."""
    from torch.onnx._internal.exporter import _fx_passes, _registration

    registry = _registration.ONNXRegistry.from_torchlib()
    return _fx_passes.decompose_with_registry(exported, registry)


def _find_failed_nodes(text: str, exported: torch.export.ExportedProgram) -> List[torch.fx.Node]:
    """The nodes of a program that an error of the exporter is about."""
    operators = set(_find_missing(text))
    names = set(re.findall(r"Error when translating node %(\w+) :", text))
    if not operators and not names:
        return []
    return [node for node in _decompose(exported).graph.nodes if node.op == "call_function" and (
        node.name in names or isinstance(node.target, torch._ops.OpOverload)
        and f"{node.target.namespace}.{node.target._opname}.{node.target._overloadname}" in operators)]


def _find_rejected_nodes(text: str, exported: torch.export.ExportedProgram,
                         model: Any) -> List[torch.fx.Node]:
    """The nodes of a program that an error of the importer is about. `model` is the ONNX IR."""
    # "node 'node_DFT_3' (DFT)", or "node of 'val_4' (DFT)" for a node without a name.
    mentioned = set(re.findall(r"node (?:of )?'([^']+)' \(", text))
    # The exporter records the node of torch.fx as text: "%fft_r2c : [num_users=1] = ...".
    names = {name for node in model.graph
             if node.name in mentioned or any(value.name in mentioned for value in node.outputs)
             for name in re.findall(r"^%(\w+) :", node.metadata_props.get(
                 "pkg.torch.onnx.fx_node", ""))}
    if not names:
        return []
    return [node for node in _decompose(exported).graph.nodes if node.name in names]


def _find_culprits(error: BaseException, exported: torch.export.ExportedProgram,
                   model: Any) -> List[str]:
    """The names, here and in the graphs that the program was made from, of the nodes that an error of
    the exporter or the importer is about. `model` is the ONNX IR, or None if the exporter failed."""
    for one in _get_chain(error):
        found = (_find_failed_nodes(str(one), exported) if model is None
                 else _find_rejected_nodes(str(one), exported, model))
        if found:
            return sorted({name for node in found for name in [node.name, *_get_origins(node)]})
    return []


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
    model = None
    try:
        model = _to_onnx(exported, list(lifted))
        middle = time.perf_counter()
        compiled = tessera_onnx.load(_serialize(model), target, **options)
    except ImportError:
        raise
    except Exception as error:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error.tessera_culprits = _find_culprits(  # type: ignore[attr-defined]
                error, exported, model)
        raise
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


def _check_outputs(graph: torch.fx.Graph, allows_views: bool) -> None:
    """Rejects graphs whose results are not new tensors: a program returns memory of its own. In a part
    of a graph that writes nothing in place, copies instead of views make no difference."""
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
            # In a part, it is passed to another one.
            raise _Unsupported(f"it returns '{output.name}', which is not a tensor",
                               [output.name] if allows_views else [])
        name = inputs.get(value.untyped_storage()._cdata)
        if name is not None and output.op != "placeholder" and not allows_views:
            raise _Unsupported(f"it returns '{output.name}', a view of the input '{name}'")


def _check_complex(graph: torch.fx.Graph) -> None:
    """Rejects complex arguments and results, which the exporter would make pairs of numbers."""
    def is_complex(node: Any) -> bool:
        value = _example(node) if isinstance(node, torch.fx.Node) else None
        return isinstance(value, torch.Tensor) and value.is_complex()

    for node in graph.nodes:
        if node.op == "placeholder" and is_complex(node):
            raise _Unsupported(f"'{node.name}' is complex", [user.name for user in node.users])
    for output in pytree.tree_leaves(graph.output_node().args):
        if is_complex(output):
            raise _Unsupported(f"'{output.name}' is complex", [output.name])


class _Graph:
    """A graph of Dynamo or a part of one, which is compiled for the sizes and numbers that occur.
    The constructor compiles it for examples, and raises _Unsupported if it cannot be compiled."""

    def __init__(self, gm: torch.fx.GraphModule, examples: Sequence[Any], options: _Options,
                 is_part: bool = False) -> None:
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
        _check_outputs(gm.graph, allows_views=is_part)
        _check_complex(gm.graph)
        self._callees[self._key(examples)] = self._try(examples)

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

    def _try(self, arguments: Sequence[Any]) -> _Callee:
        """The program for the arguments. Raises _Unsupported."""
        try:
            return self._compile(arguments)
        except (ImportError, KeyboardInterrupt, _Unsupported):
            raise
        except Exception as error:
            reason = _describe_failure(error)
            if not self._is_symbolic or reason.startswith(_MISSING):
                raise _Unsupported(reason, getattr(error, "tessera_culprits", ())) from error
        # Operands that decide shapes must be constant: with static sizes they are.
        _log.info("a graph is compiled for each set of sizes, because with symbolic sizes: %s", reason)
        self._is_symbolic = False
        return self._try(arguments)

    def _find(self, arguments: Sequence[Any]) -> Optional[_Callee]:
        """The program for the arguments; None if the graph is left to PyTorch for them."""
        key = self._key(arguments)
        if key in self._callees:
            return self._callees[key]
        callee: Optional[_Callee] = None
        try:
            callee = self._try(arguments)
        except _Unsupported as why:
            if not self._options.fallback:
                raise UnsupportedError(f"a graph cannot be compiled: {why}") from why.__cause__
            _warn(str(why))
        self._callees[self._key(arguments)] = callee
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


# --- Parts of graphs ---------------------------------------------------------------------------------


class _Part(torch.nn.Module):
    """A compiled part of a graph, in place of the module of its nodes."""

    def __init__(self, graph: _Graph, has_one_result: bool) -> None:
        super().__init__()
        self._graph, self._has_one_result = graph, has_one_result

    def forward(self, *arguments: Any) -> Any:
        results = self._graph(*arguments)
        return results[0] if self._has_one_result else results


def _get_hint(value: Any) -> Any:
    """The number that a symbolic one was when the graph was made."""
    if not isinstance(value, (torch.SymInt, torch.SymFloat)):
        return value
    if not value.node.has_hint():
        raise _Unsupported(f"the size {value} depends on the contents of tensors")
    return value.node.hint


def _make_example(value: Any) -> Any:
    """Arguments of a part, by which it is compiled first. Programs do not depend on their contents."""
    if isinstance(value, torch.Tensor):
        return torch.zeros([_get_hint(size) for size in value.shape], dtype=value.dtype,
                           device=value.device)
    return _get_hint(value)


def _writes_in_place(gm: torch.fx.GraphModule, examples: Sequence[Any]) -> bool:
    """Whether an operator of the graph writes a tensor, which then may have views in other parts."""
    defaults = torch._dynamo.config.patch(assume_static_by_default=True, specialize_float=True)
    with torch._guards.tracing(None), defaults, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(gm, tuple(
            value.detach() if isinstance(value, torch.Tensor) else _get_hint(value)
            for value in examples))
    return any(isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
               for node in exported.graph.nodes)


class _Partitions:
    """The parts of a graph that can be compiled. ``reasons`` states why others cannot."""

    def __init__(self, gm: torch.fx.GraphModule, options: _Options, culprits: Sequence[str],
                 reason: str) -> None:
        self._gm, self._options = gm, options
        self._calls = [node.name for node in gm.graph.nodes
                       if node.op in ("call_function", "call_method")]
        self._left: set = set()
        self.reasons: List[str] = []
        self._leave(culprits, reason)

    def _leave(self, names: Sequence[str], reason: str) -> None:
        self._left.update(name for name in names if name in self._calls)
        if reason not in self.reasons:
            self.reasons.append(reason)

    def compile(self) -> Optional[torch.fx.GraphModule]:
        """The graph with compiled parts; None if there are none."""
        from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
        from torch.fx.passes.operator_support import create_op_support

        compiled: Dict[Tuple[str, ...], _Graph] = {}
        while True:
            supported = create_op_support(
                lambda _, node: node.name in self._calls and node.name not in self._left)
            # The partitioner changes the graph.
            copied = torch.fx.GraphModule(self._gm, copy.deepcopy(self._gm.graph))
            fused = CapabilityBasedPartitioner(
                copied, supported, allows_single_node_partition=True).partition_and_fuse()
            parts = {node.target: getattr(fused, node.target) for node in fused.graph.nodes
                     if node.op == "call_module" and node.target not in dict(self._gm.named_modules())}
            before = len(self._left)
            for name, part in parts.items():
                calls = tuple(node.name for node in part.graph.nodes if node.name in self._calls)
                try:
                    if calls not in compiled:
                        compiled[calls] = self._compile_part(part)
                    setattr(fused, name, _Part(compiled[calls], not isinstance(
                        part.graph.output_node().args[0], (tuple, list))))
                except _Unsupported as why:
                    culprits = [culprit for culprit in why.culprits if culprit in calls]
                    self._leave(culprits or calls, str(why))
            if len(self._left) == before:
                return fused if parts else None

    def _compile_part(self, part: torch.fx.GraphModule) -> _Graph:
        examples = [_make_example(_example(node)) for node in part.graph.nodes
                    if node.op == "placeholder"]
        return _Graph(part, examples, self._options, is_part=True)

    def describe(self) -> str:
        return (f"{len(self._left)} of the {len(self._calls)} operators of a graph are left to "
                f"PyTorch: {'; '.join(self.reasons)}")


def _partition(gm: torch.fx.GraphModule, examples: Sequence[Any], options: _Options,
               why: _Unsupported) -> Optional[torch.fx.GraphModule]:
    """The graph with its supported parts compiled; None if it is left to PyTorch as a whole."""
    if not why.culprits:
        return None
    try:
        if _writes_in_place(gm, examples):
            return None
    except Exception as error:
        _log.info("a graph is not partitioned: %s", error)
        return None
    parts = _Partitions(gm, options, why.culprits, str(why))
    compiled = parts.compile()
    if compiled is not None:
        _warn_text(parts.describe())
    return compiled


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


def _warn_text(text: str) -> None:
    warnings.warn(f"tessera: {text}", FallbackWarning, stacklevel=3)


def _warn(reason: str) -> None:
    _warn_text(f"a graph is left to PyTorch: {reason}")


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
            raise UnsupportedError(f"a graph cannot be compiled: {why}") from why.__cause__
        partitioned = _partition(gm, examples, own, why)
        if partitioned is not None:
            return partitioned
        _warn(str(why))
        return gm
