# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs, their entries, and the devices that run them."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from threading import Lock
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _core


class Error(RuntimeError):
    """An error message; ``code`` is a name of ``TesseraStatus``."""

    code: str = "TESSERA_INTERNAL"


class CompileError(Error):
    """A compile error; the text contains all diagnostics with their locations."""


_core.set_errors(Error, CompileError)

# Scalars, as struct packs them; the others go by NumPy.
_FORMATS = {"f32": "f", "f64": "d", "i8": "b", "ui8": "B", "i16": "h", "i32": "i", "i64": "q",
            "index": "q", "i1": "?", "f16": "e"}


@dataclass(frozen=True)
class Slot:
    """An argument or a result of an entry point."""

    #: "scalar", "tensor" or "memref".
    kind: str
    #: The element's type as MLIR has it: "bf16".
    element: str
    #: -1 where a size is open.
    shape: Tuple[int, ...]
    #: Whether it is a memref that the program may write.
    may_write: bool
    #: The type in the program: "tensor<?x64xf16>".
    type: str


@dataclass(frozen=True)
class Signature:
    """The arguments and results of an entry point."""

    name: str
    arguments: Tuple[Slot, ...]
    results: Tuple[Slot, ...]

    def __str__(self) -> str:
        arguments = ", ".join(slot.type for slot in self.arguments)
        results = ", ".join(slot.type for slot in self.results)
        return f"{self.name}({arguments}) -> ({results})"


class Device:
    """An open device: ``Device("cuda")``, ``Device("cuda", 1)``, ``Device("cpu")``.

    ``Device.get`` returns the same object for the same device; calls use it.
    """

    _open: Dict[Tuple[str, int], "Device"] = {}
    _lock = Lock()

    def __init__(self, target: str = "auto", ordinal: int = 0) -> None:
        self._device = _core.Device(target, ordinal)

    @classmethod
    def get(cls, target: str, ordinal: int = 0) -> "Device":
        with cls._lock:
            device = cls._open.get((target, ordinal))
            if device is None:
                device = cls._open[target, ordinal] = cls(target, ordinal)
            return device

    @property
    def target(self) -> str:
        return self._device.target

    @property
    def chip(self) -> str:
        return self._device.chip

    @property
    def name(self) -> str:
        return self._device.name

    @property
    def ordinal(self) -> int:
        return self._device.ordinal

    def synchronize(self) -> None:
        """Waits for the work of the device's own queue."""
        self._device.synchronize()

    def __repr__(self) -> str:
        return f"<tessera.Device {self.target}:{self.ordinal} {self.chip} ({self.name})>"


def _slots(slots: Sequence[Any]) -> Tuple[Slot, ...]:
    kinds = ("scalar", "tensor", "memref")
    return tuple(
        Slot(kinds[slot.kind], _arrays.ELEMENTS[slot.element][0], tuple(slot.shape),
             slot.may_write, slot.type)
        for slot in slots
    )


class Entry:
    """A function of a program on a device; see ``Program.entry``."""

    def __init__(self, program: "Program", name: str, device: Device) -> None:
        self.signature = program.signatures[name]
        self.device = device
        self._executable = _core.Executable(program._program, name, device._device)
        self._arguments, self._results = program._slots[name]
        self._expected = [_arrays.ELEMENTS[slot.element][1] for slot in self._arguments]
        self._is_open = [min(slot.shape, default=0) < 0 for slot in self._results]
        self._place = (device.target, device.ordinal)

    def _fail(self, index: int, what: str) -> TypeError:
        return TypeError(f"argument {index} ({self.signature.arguments[index].type}): {what}")

    def _scalar(self, index: int, value: Any) -> Tuple[Any, np.ndarray]:
        slot = self.signature.arguments[index]
        if isinstance(value, np.ma.MaskedArray):
            raise self._fail(index, "a masked number cannot be passed")
        try:
            if slot.element in _FORMATS:
                data = struct.pack(_FORMATS[slot.element], value)
            else:
                data = np.asarray(value, _arrays.numpy_type(self._arguments[index].element)).tobytes()
        except (struct.error, TypeError, ValueError, OverflowError) as error:
            raise self._fail(index, f"{value!r} is not a valid number: {error}") from None
        keep = np.frombuffer(data, np.uint8)
        return (_arrays.HOST, keep.ctypes.data, None, None), keep

    def _array(self, index: int, value: Any) -> Tuple[Any, _arrays.View]:
        slot = self.signature.arguments[index]
        try:
            view = _arrays.view(value)
        except TypeError as error:
            raise self._fail(index, str(error)) from None
        if view is None:
            raise self._fail(index, f"a {type(value).__name__} is not an array")
        expected = self._expected[index]
        # i4 comes packed, two to a byte.
        if view.dtype != expected and not (expected == "int4" and view.dtype == "uint8"):
            raise self._fail(index, f"its elements are {view.dtype}, but the program expects "
                                    f"{expected}")
        if view.target and (view.target, view.ordinal) != self._place:
            raise self._fail(index, f"it is on {view.target}:{view.ordinal}, but the program runs on "
                                    f"{self.device.target}:{self.device.ordinal}")
        if expected == "int4" and view.dtype == "uint8":
            elements = int(np.prod(slot.shape)) if min(slot.shape, default=0) >= 0 else -1
            if elements < 0 or int(np.prod(view.shape)) != (elements + 1) // 2:
                raise self._fail(index, "packed i4 requires static sizes, and two elements per byte")
            if not _arrays.is_dense(view.shape, view.strides):
                raise self._fail(index, "packed i4 requires a dense array: pass "
                                        "np.ascontiguousarray(array)")
            return (view.memory, view.pointer, None, None), view
        if len(view.shape) != len(slot.shape):
            raise self._fail(index, f"it has {len(view.shape)} dimensions")
        if slot.may_write and isinstance(value, np.ndarray) and not value.flags.writeable:
            raise self._fail(index, "the program writes it, but it is read-only")
        return (view.memory, view.pointer, view.shape, view.strides), view

    def __call__(self, *arguments: Any, stream: Optional[int] = None) -> Any:
        """Runs the entry point.

        ``stream`` is a CUstream or hipStream_t handle as an integer; without it, work is queued on the
        current stream of the arguments' package, or else on the device's own queue. The call does not
        block unless an argument or a result is on the host. Returns a result, a tuple of several, or
        None.

        If ``stream`` is not the current one, the caller must order it after the work that produces the
        arguments (``wait_stream``). PyTorch tensors may be dropped at once: their memory is kept for
        the stream (``record_stream``), and results are allocated by PyTorch's allocator for it. The
        caller must keep arrays of CuPy and other packages alive until the stream is done with them.
        """
        if stream is not None and (isinstance(stream, bool) or not isinstance(stream, int)):
            raise TypeError(f"stream must be a stream handle as an integer, not a "
                            f"{type(stream).__name__}: pass stream.cuda_stream (PyTorch) or stream.ptr (CuPy)")
        slots = self.signature.arguments
        if len(arguments) != len(slots):
            raise TypeError(f"{self.signature} takes {len(slots)} arguments, but "
                            f"{len(arguments)} were given")
        tuples: List[Any] = []
        keep: List[Any] = []
        on_device = False
        for index, value in enumerate(arguments):
            if slots[index].kind == "scalar":
                passed, kept = self._scalar(index, value)
            else:
                passed, kept = self._array(index, value)
                on_device |= kept.memory == _arrays.DEVICE
            tuples.append(passed)
            keep.append(kept)
        target, ordinal = self._place
        # A stream that the arguments' package does not know of.
        foreign: Optional[int] = None
        if on_device:
            current = _arrays.current_stream(arguments, target, ordinal)
            if stream is None:
                stream = current
            elif stream != current:
                foreign = stream
                _arrays.record_stream(arguments, stream, ordinal)

        # Results are left on the device where arguments are on it.
        wanted: List[Tuple[int, int, int]] = []
        hosts: List[Optional[np.ndarray]] = []
        for slot, is_open in zip(self._results, self._is_open):
            rank = len(slot.shape)
            if slot.kind != 0 and (on_device or is_open):
                wanted.append((0, 0, rank))
                hosts.append(None)
                continue
            host = np.empty(slot.shape, _arrays.numpy_type(slot.element))
            pointer = host.ctypes.data
            wanted.append((pointer, host.nbytes, rank))
            hosts.append(host)
        given = self._executable.run(tuples, wanted, stream is not None, stream or 0)
        del keep
        if not given:
            return None

        package = _arrays.package_of(arguments)
        results = []
        for slot, host, (buffer, sizes) in zip(self._results, hosts, given):
            if host is None and on_device:
                results.append(_arrays.wrap(buffer, slot.element, sizes, target, ordinal, package,
                                            foreign))
            elif host is None:
                results.append(self._fetch(buffer, slot, sizes, package))
            elif slot.kind == 0:
                results.append(host.item())
            else:
                results.append(self._to_package(host, package))
        return results[0] if len(results) == 1 else tuple(results)

    def _fetch(self, buffer: Any, slot: Any, sizes: Sequence[int], package: str) -> Any:
        """A result of dynamic size, copied to the host once its size is known."""
        host = np.empty(tuple(sizes), _arrays.numpy_type(slot.element))
        _core.read(buffer, host.ctypes.data, host.nbytes)
        return self._to_package(host, package)

    @staticmethod
    def _to_package(host: np.ndarray, package: str) -> Any:
        if package != "torch":
            return host
        import torch

        if host.dtype.kind in "fiub" and host.dtype.name in dir(torch):
            return torch.from_numpy(host)
        return torch.from_numpy(host.view(f"u{host.dtype.itemsize}")).view(
            getattr(torch, host.dtype.name))


class Program:
    """A compiled program, for one or several chips. ``compile`` and ``load`` make one."""

    def __init__(self, program: Any) -> None:
        self._program = program
        self._slots: Dict[str, Tuple[Any, Any]] = {}
        #: By the entries' names.
        self.signatures: Dict[str, Signature] = {}
        for name, arguments, results in program.entries():
            self._slots[name] = arguments, results
            self.signatures[name] = Signature(name, _slots(arguments), _slots(results))
        self._entries: Dict[Tuple[str, str, int], Entry] = {}
        self._lock = Lock()
        self.targets = [part.partition(":")[0] for part in
                        program.describe().partition("\n")[0].split(", ") if part]

    def describe(self) -> str:
        """The targets of the program, and a line for each kernel: its schedule and instructions."""
        return self._program.describe()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the program as a bundle that ``load``, gpu-runner and libtessera-runtime run."""
        temporary = f"{os.fspath(path)}.{os.getpid()}.part"
        try:
            with open(temporary, "wb") as file:
                file.write(self._program.save())
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def _default_entry(self) -> str:
        if "main" in self.signatures or len(self.signatures) != 1:
            return "main"
        return next(iter(self.signatures))

    def entry(self, name: Optional[str] = None, device: Optional[Device] = None) -> Entry:
        """An entry point on a device. ``name`` defaults to ``main`` or the only one, ``device`` to the
        first device of this machine that the program is compiled for."""
        name = name or self._default_entry()
        if name not in self.signatures:
            raise Error(f"no entry point '{name}': the program has {', '.join(self.signatures)}")
        if device is None:
            device = self._default_device()
        key = (name, device.target, device.ordinal)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.device is not device:
                entry = self._entries[key] = Entry(self, name, device)
            return entry

    def _default_device(self) -> Device:
        problem: Optional[Error] = None
        for target in self.targets:
            try:
                return Device.get(target)
            except Error as error:
                problem = problem or error
        raise problem or Error("the program does not contain code for any target")

    def __call__(self, *arguments: Any, entry: Optional[str] = None,
                 stream: Optional[int] = None) -> Any:
        """Runs the entry point ``main``, or the one given, on the device of the arguments."""
        device = None
        for index, value in enumerate(arguments):
            try:
                view = _arrays.view(value)
            except TypeError as error:
                raise TypeError(f"argument {index}: {error}") from None
            if view is not None and view.target:
                device = Device.get(view.target, view.ordinal)
                break
        return self.entry(entry, device)(*arguments, stream=stream)

    def __repr__(self) -> str:
        entries = "; ".join(str(signature) for signature in self.signatures.values())
        return f"<tessera.Program for {', '.join(self.targets)}: {entries}>"


def _encode(source: Union[str, bytes]) -> bytes:
    return source.encode() if isinstance(source, str) else source


def _join_flags(flags: Union[str, Sequence[str]], **switches: bool) -> str:
    """The flags as one text, with those that arguments of their own (``allow_tf32``) switch on."""
    joined = [name.replace("_", "-") for name, is_on in switches.items() if is_on]
    joined += [flags] if isinstance(flags, str) else flags
    return ",".join(flag for flag in joined if flag)


def compile(source: Union[str, bytes], target: str = "cpu", *, entry: Optional[str] = None,
            file: str = "<text>", allow_tf32: bool = False, allow_fast_f8: bool = False,
            require_mma: bool = False,
            schedule_db: Union[str, "os.PathLike[str]", None] = None,
            flags: Union[str, Sequence[str]] = ()) -> Program:
    """Compiles a module of MLIR, as text or bytecode.

    ``target`` has the form of gpu-runner's ``--target``, or several separated by commas: "cpu", "cuda"
    (the chip of this machine's device), "cuda:sm_80,sm_90a,hip:gfx942". ``entry`` keeps only that
    function; ``file`` names the source in diagnostics. ``allow_tf32`` permits tf32 for matmuls of f32,
    ``allow_fast_f8`` reduced-precision accumulation for 8-bit floats; ``require_mma`` rejects matmuls
    that no matrix unit computes. ``schedule_db`` is a gpu-tune database of schedules, or "off" to use
    only the compiler's own choices. ``flags`` are further compile flags of gpu-runner without the
    dashes: ["no-fuse-attention", "ptxas"]. Compiler warnings are issued as Python
    warnings.
    """
    return Program(_core.Program.compile(
        _encode(source),
        _core.Options(target, entry, file,
                      None if schedule_db is None else os.fspath(schedule_db),
                      _join_flags(flags, allow_tf32=allow_tf32, allow_fast_f8=allow_fast_f8,
                                  require_mma=require_mma))))


def explain(source: Union[str, bytes], target: str = "cpu", *, entry: Optional[str] = None,
            file: str = "<text>", allow_tf32: bool = False, allow_fast_f8: bool = False,
            require_mma: bool = False,
            schedule_db: Union[str, "os.PathLike[str]", None] = None,
            flags: Union[str, Sequence[str]] = ()) -> Dict[str, Any]:
    """Compiles a module for one target and reports how, as gpu-runner's ``--explain=json``: the
    instruction of each matmul and why better ones were rejected, and the schedule of each kernel.

    The options are those of ``compile``. No device is required if the target has a chip.
    """
    return json.loads(_core.explain(
        _encode(source),
        _core.Options(target, entry, file,
                      None if schedule_db is None else os.fspath(schedule_db),
                      _join_flags(flags, allow_tf32=allow_tf32, allow_fast_f8=allow_fast_f8,
                                  require_mma=require_mma))))


def verify(source: Union[str, bytes], target: str = "cpu", *, arguments: Sequence[str] = (),
           entry: Optional[str] = None, file: str = "<text>", allow_tf32: bool = False,
           allow_fast_f8: bool = False, require_mma: bool = False,
           schedule_db: Union[str, "os.PathLike[str]", None] = None,
           flags: Union[str, Sequence[str]] = (),
           accept_unverified: bool = False) -> Tuple[bool, Dict[str, Any]]:
    """Compiles a module, runs it twice on a device, and compares its outputs with the reference
    interpreter. Returns whether they are right, and the report of gpu-runner's ``--verify --json``.

    ``arguments`` are the contents of arguments, as gpu-runner's ``--arg``: "int:7",
    "random:7:64x32", "zeros", "@file.npy"; the others are small integers. ``accept_unverified``
    accepts different elements that have no error bound. The other options are those of ``compile``.
    """
    passed, report = _core.verify(
        _encode(source),
        _core.Options(target, entry, file,
                      None if schedule_db is None else os.fspath(schedule_db),
                      _join_flags(flags, allow_tf32=allow_tf32, allow_fast_f8=allow_fast_f8,
                                  require_mma=require_mma)),
        list(arguments), accept_unverified)
    return passed, json.loads(report)


def load(bundle: Union[str, "os.PathLike[str]", bytes]) -> Program:
    """Loads a bundle, given as bytes or as a file path. A bundle contains machine code: only load
    bundles from a trusted source."""
    if not isinstance(bundle, bytes):
        with open(bundle, "rb") as file:
            bundle = file.read()
    return Program(_core.Program.load(bundle))
