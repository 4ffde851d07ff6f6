# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs, their entries, and the devices that run them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Tuple, Union

from . import _arrays, _core


class Error(RuntimeError):
    """An error message; ``code`` is a name of ``TesseraStatus``."""

    code: str = "TESSERA_INTERNAL"


class CompileError(Error):
    """A compile error; the text contains all diagnostics with their locations."""


_core.set_errors(Error, CompileError)
_core.set_helpers(_arrays)

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
    #: The name of an input or output of a model; empty for other programs.
    name: str = ""
    #: The model's names of dynamic dimensions, one per dimension and empty where there is none; empty
    #: if there are none at all.
    symbols: Tuple[str, ...] = ()


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
             slot.may_write, slot.type, slot.name, tuple(slot.symbols))
        for slot in slots
    )


@dataclass(frozen=True)
class LaunchStatistics:
    """How the runs of an entry were submitted so far."""

    #: Runs that were submitted as one graph, and runs whose kernels were launched one by one.
    graph_runs: int
    direct_runs: int
    #: Graphs that were made, and nodes of them that were changed for a later run.
    graphs: int
    updates: int
    #: Why the kernels of the last run were launched one by one; empty if they were not.
    why_direct: str
    #: Launches of the last run that may begin before the kernel before them has ended (CUDA, sm_90 and
    #: later), because their threads wait for it.
    overlaps: int
    #: Runs with the operands, results and workspace of an earlier one, whose launches were repeated
    #: without executing host code.
    repeated_runs: int = 0


class Entry(_core.Entry):
    """A function of a program on a device; see ``Program.entry``.

    Calling it runs the entry point. ``stream`` is a CUstream or hipStream_t handle as an integer;
    without it, work is queued on the current stream of the arguments' package, or else on the device's
    own queue. The call does not block unless an argument or a result is on the host. Returns a result,
    a tuple of several, or None.

    If ``stream`` is not the current one, the caller must order it after the work that produces the
    arguments (``wait_stream``). PyTorch tensors may be dropped at once: their memory is kept for the
    stream (``record_stream``). The caller must keep arrays of CuPy and other packages alive until the
    stream is done with them. Results on a GPU are allocated by PyTorch's or CuPy's allocator in the
    stream of the call.

    ``launch`` chooses how the kernels of later calls are submitted: "auto" (several kernels as one
    graph of the driver, from the second call with the same sizes in a stream on), "direct" (one by
    one) or "graph" (from the first call on). Targets without graphs launch one by one, which
    ``launch_statistics`` reports.
    """

    def __init__(self, program: "Program", name: str, device: Device) -> None:
        super().__init__(program._program, name, device._device, device.target, device.ordinal)
        self.signature = program.signatures[name]
        self.device = device

    def launch_statistics(self) -> LaunchStatistics:
        """How the runs were submitted so far."""
        return LaunchStatistics(*super().launch_statistics())

    if TYPE_CHECKING:
        # They are in src/Call.cpp.
        launch: str

        def __call__(self, *arguments: Any, stream: Optional[int] = None) -> Any: ...


class Program(_core.EntryCache):
    """A compiled program, for one or several chips. ``compile`` and ``load`` make one.

    Calling it runs the entry point ``main``, or the one given as ``entry``, on the device of the
    arguments; see ``Entry``.
    """

    def __init__(self, program: Any) -> None:
        super().__init__()
        self._program = program
        #: By the entries' names.
        self.signatures: Dict[str, Signature] = {}
        for name, arguments, results in program.entries():
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

    def _find_entry(self, name: Optional[str], target: str, ordinal: int) -> Entry:
        """The entry point that a call uses; ``target`` is empty if no argument is on a device."""
        return self.entry(name, Device.get(target, ordinal) if target else None)

    if TYPE_CHECKING:
        # It is in src/Call.cpp.
        def __call__(self, *arguments: Any, entry: Optional[str] = None,
                     stream: Optional[int] = None) -> Any: ...

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
    return Program(_core.compile(
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
