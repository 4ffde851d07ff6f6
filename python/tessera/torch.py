# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as operators of PyTorch, and modules as programs.

    import tessera.torch

    program = tessera.compile(text, target="cuda")
    scale = tessera.torch.custom_op(program, "mine::scale")
    torch.compile(lambda x: scale(x) + 1)(x)

    with torch.no_grad():
        torch.compile(module, backend="tessera")(x)
        tessera.torch.load(torch.export.export(module, (x,)))(x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import torch

from . import _core
from ._arrays import ELEMENTS
from ._program import Program, Signature, Slot
from ._torch_compile import ExportedModule, FallbackWarning, UnsupportedError, compile_graph, load

__all__ = ["ExportedModule", "FallbackWarning", "Operator", "UnsupportedError", "custom_op", "load"]


def _register_backend() -> None:
    """Makes "tessera" a backend of ``torch.compile``, unless the wheel's entry point does."""
    from importlib.metadata import entry_points

    group = "torch_dynamo_backends"
    points = entry_points()
    # Before Python 3.10 they are a dictionary.
    found = points.select(group=group) if hasattr(points, "select") else points.get(group, ())
    if not any(point.name == "tessera" for point in found):
        import torch._dynamo

        torch._dynamo.register_backend(compiler_fn=compile_graph, name="tessera")


_register_backend()

#: A function of an operator's arguments that returns the program for them.
Specialize = Callable[..., Program]

# An operator exists as long as the library that defined it.
_libraries: Dict[str, torch.library.Library] = {}


def _argument_type(slot: Slot, alias: str) -> str:
    """The type of an argument in PyTorch's schemas."""
    if slot.kind != "scalar":
        return f"Tensor({alias}!)" if slot.may_write else "Tensor"
    if slot.element == "i1":
        return "bool"
    return "float" if "f" in slot.element else "SymInt"


def _schema(signature: Signature, names: Optional[Sequence[str]]) -> str:
    slots = signature.arguments
    if names is None:
        names = [f"x{index}" for index in range(len(slots))]
    elif len(names) != len(slots):
        raise ValueError(f"{signature} takes {len(slots)} arguments, but {len(names)} names were given")
    for index, slot in enumerate(signature.results):
        if slot.kind == "scalar":
            raise ValueError(f"result {index} ({slot.type}) is a scalar, but operators of PyTorch return "
                             "tensors: return a tensor of rank 0")
    arguments = ", ".join(f"{_argument_type(slot, chr(ord('a') + index % 26))} {name}"
                          for index, (slot, name) in enumerate(zip(slots, names)))
    results = ", ".join("Tensor" for _ in signature.results)
    return f"({arguments}) -> " + (results if len(signature.results) == 1 else f"({results})")


def _element_type(slot: Slot) -> torch.dtype:
    numpy_name = next(names[1] for names in ELEMENTS if names[0] == slot.element)
    return getattr(torch, numpy_name)


def _static_fake(signature: Signature) -> Callable[..., Any]:
    """The function that describes the results of a program whose results have static sizes."""
    for index, slot in enumerate(signature.results):
        if min(slot.shape, default=0) < 0:
            raise ValueError(f"result {index} ({slot.type}) has a dynamic size: pass fake=, a function of "
                             "the operator's arguments that returns an empty tensor of the result's "
                             "shape and type for each result")
    types = [_element_type(slot) for slot in signature.results]

    def fake(*arguments: Any) -> Any:
        device = None
        for index, (slot, value) in enumerate(zip(signature.arguments, arguments)):
            if slot.kind == "scalar":
                continue
            device = device or value.device
            torch._check(value.dim() == len(slot.shape), lambda: (
                f"argument {index} ({slot.type}): it has {value.dim()} dimensions"))
            for dim, size in enumerate(slot.shape):
                if size >= 0:
                    torch._check(value.shape[dim] == size, lambda: (
                        f"argument {index} ({slot.type}): dimension {dim} is {value.shape[dim]}"))
        results = [torch.empty(slot.shape, dtype=dtype, device=device)
                   for slot, dtype in zip(signature.results, types)]
        return results[0] if len(results) == 1 else tuple(results) if results else None

    return fake


class _Programs(_core.ProgramsByForm):
    """Requests a program when the shapes of its arguments first occur, and runs it on those that are
    not None. A call looks up the program in C++, unless it has arguments that are read by their
    attributes."""

    def __init__(self, specialize: Specialize, entry: Optional[str]) -> None:
        super().__init__(entry)
        self._specialize = specialize
        self._programs: Dict[Tuple[Any, ...], Program] = {}

    def find(self, arguments: Tuple[Any, ...]) -> Program:
        """The program for arguments that did not occur before."""
        # 0.0 and -0.0 are equal, but not the same number.
        key = tuple((value.shape, value.dtype, value.device) if isinstance(value, torch.Tensor)
                    else (type(value), value.hex() if isinstance(value, float) else value)
                    for value in arguments)
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._specialize(*arguments)
        return program

    if TYPE_CHECKING:
        # It is in src/Operator.cpp.
        def __call__(self, *arguments: Any) -> Any: ...


def _bump_versions(name: str, operator: Any, mutated: Sequence[int]) -> Callable[..., Any]:
    """The step between autograd and the implementation that marks written tensors as changed, so that
    autograd rejects a backward pass that would read the new contents."""

    def bump(keyset: Any, *arguments: Any) -> Any:
        if torch.is_grad_enabled():
            for index, value in enumerate(arguments):
                if isinstance(value, torch.Tensor) and value.requires_grad:
                    raise RuntimeError(
                        f"argument {index} of '{name}' requires a gradient, but the operator writes its "
                        "arguments and has no derivative: call detach(), or use torch.no_grad()")
        for index in mutated:
            torch.autograd.graph.increment_version(arguments[index])
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return operator.redispatch(
                keyset & torch._C._after_ADInplaceOrView_keyset, *arguments)

    return bump


def _no_derivative(name: str) -> Callable[..., Any]:
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(f"the operator '{name}' has no derivative: pass backward= to "
                           "tessera.torch.custom_op")

    return backward


def _observers() -> Optional[List[Tuple[Callable[[], Any], Any]]]:
    """The functions that report what has to see the operators that run besides autograd (a trace, a
    transform, a mode, a profiler), each with what it returns where nothing has to."""
    try:
        return [(torch._C._len_torch_dispatch_stack, 0), (torch._C._is_torch_function_mode_enabled, False),
                (torch._C._functorch.maybe_current_level, None), (torch._C._get_tracing_state, None),
                (torch.autograd._profiler_enabled, False)]
    except AttributeError:  # They are not public: another version of PyTorch may lack one.
        return None


class Operator:
    """An operator of PyTorch that a program implements; ``overload`` is ``torch.ops.namespace.name.default``.

    A call runs the overload. Where nothing but autograd would see that, it calls the program without
    PyTorch's dispatcher, which would cost the host more time than the launch.
    """

    def __init__(self, overload: Any, run: Callable[..., Any], backward: Optional[Callable[..., Any]],
                 setup_context: Optional[Callable[..., Any]]) -> None:
        self.overload = overload
        self._eager: Optional[_core.EagerOperator] = None
        observers = _observers()
        if backward is None or observers is None:
            return

        def forward(ctx: Any, *inputs: Any) -> Any:
            output = run(*inputs)
            if setup_context is not None:
                setup_context(ctx, inputs, output)
            return output

        function = type("Derivative", (torch.autograd.Function,), {
            "forward": staticmethod(forward), "backward": staticmethod(backward)})
        # The part of `apply` in Python is for functorch, which is an observer.
        derivative = super(torch.autograd.Function, function).apply
        self._eager = _core.EagerOperator(
            run, derivative, len(overload._schema.arguments), torch.Tensor, torch.nn.Parameter,
            torch.is_grad_enabled, observers)

    def __repr__(self) -> str:
        return f"<tessera.torch.Operator {self.overload}>"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._eager is not None and not named and not torch.compiler.is_compiling():
            result = self._eager(*arguments)
            if result is not NotImplemented:
                return result
        return self.overload(*arguments, **named)


def custom_op(program: Union[Program, Specialize], name: str, *, entry: Optional[str] = None,
              arguments: Optional[Sequence[str]] = None, schema: Optional[str] = None,
              fake: Optional[Callable[..., Any]] = None,
              backward: Optional[Callable[..., Any]] = None,
              setup_context: Optional[Callable[..., Any]] = None) -> Operator:
    """Registers a program as the operator ``name`` ("namespace::operator") of PyTorch,
    ``torch.ops.namespace.operator``, and returns it.

    The operator works in ``torch.compile``, ``torch.export``, and CUDA graphs. Its arguments are those
    of the entry point: a tensor for an array, a number for a scalar. Tensors must be dense; a memref
    that the program may write is an argument that the operator mutates. Results are new tensors.

    ``program`` may also be a function of the operator's arguments that returns the program for them. It
    is called when the shapes, element types, devices and numbers first occur, never while a graph is
    traced. ``schema`` is then required, such as "(Tensor x, Tensor weight, Tensor? bias) -> Tensor",
    and so is ``fake``. Arguments that are None are not passed to the program.

    ``entry`` names the entry point, and ``arguments`` the operator's arguments. ``fake`` describes the
    results without computing them: a function of the arguments that returns empty tensors, as in
    ``torch.library.register_fake``. It is required where a result has a dynamic size. ``backward(ctx,
    *gradients)`` and ``setup_context(ctx, inputs, output)`` define the derivative, as in
    ``torch.library.register_autograd``; without ``backward`` a backward pass through the operator raises
    an error. An operator that mutates arguments cannot have a derivative.
    """
    namespace, separator, operator = name.partition("::")
    if not separator or not namespace or not operator:
        raise ValueError(f"'{name}' is not of the form 'namespace::operator'")
    if setup_context is not None and backward is None:
        raise ValueError("setup_context= requires backward=")
    if name in _libraries:
        raise ValueError(f"the operator '{name}' is already registered")
    if isinstance(program, Program):
        if schema is not None:
            raise ValueError("schema= applies to a function that returns programs: a program has its own")
        own_name = entry or program._default_entry()
        if own_name not in program.signatures:
            raise ValueError(f"no entry point '{own_name}': the program has "
                             f"{', '.join(program.signatures)}")
        signature = program.signatures[own_name]
        schema = _schema(signature, arguments)
        fake = fake or _static_fake(signature)
        own_program = program

        def run(*values: Any) -> Any:
            return own_program.call_below_autograd(entry, *values)
    else:
        if schema is None or fake is None:
            raise ValueError("a function that returns programs requires schema= and fake=")
        if arguments is not None:
            raise ValueError("arguments= applies to a program: schema= contains the names")
        run = _Programs(program, entry)

    if backward is not None and "!" in schema:
        raise ValueError(f"the operator '{name}' writes its arguments, so that it has no derivative: "
                         "omit backward=, or pass a program that returns its results")

    library = torch.library.Library(namespace, "FRAGMENT")
    # A program reads dense arrays: the compiler must not choose other strides.
    tags = [torch.Tag.pt2_compliant_tag]
    tags += [getattr(torch.Tag, tag) for tag in ("needs_contiguous_strides", "needs_exact_strides",
                                                    "needs_fixed_stride_order")
             if hasattr(torch.Tag, tag)][:1]
    library.define(operator + schema, tags=tuple(tags))
    _libraries[name] = library
    overload = getattr(getattr(torch.ops, namespace), operator).default
    for key in ("CPU", "CUDA"):
        library.impl(operator, run, key)
    mutated: List[int] = [index for index, argument in enumerate(overload._schema.arguments)
                          if argument.alias_info is not None and argument.alias_info.is_write]
    torch.library.register_fake(name, fake, lib=library)
    if mutated:
        library.impl(operator, _bump_versions(name, overload, mutated), "ADInplaceOrView",
                     with_keyset=True)
        return Operator(overload, run, None, None)
    backward = backward or _no_derivative(name)
    torch.library.register_autograd(name, backward, setup_context=setup_context, lib=library)
    return Operator(overload, run, backward, setup_context)
