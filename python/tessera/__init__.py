"""Matrix kernels for every vendor's GPU, compiled from MLIR.

    import tessera, numpy as np

    program = tessera.compile(text, target="cpu")
    c = program(a, b)                       # the entry `main`, or the only one

Arrays are NumPy's, PyTorch's, CuPy's, or whatever has ``__dlpack__``. Those on the device are used in
place, in the order of PyTorch's or CuPy's current stream; those of the host are copied. Results are of
the kind that the arguments are of.
"""

from ._core import version as __version__
from ._program import (
    CompileError,
    Device,
    Entry,
    Error,
    Program,
    Signature,
    Slot,
    compile,
    load,
)

__all__ = [
    "CompileError",
    "Device",
    "Entry",
    "Error",
    "Program",
    "Signature",
    "Slot",
    "compile",
    "load",
    "__version__",
]
