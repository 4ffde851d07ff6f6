# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix kernels for every vendor's GPU, compiled from MLIR.

    import tessera, numpy as np

    program = tessera.compile(text, target="cpu")
    c = program(a, b)                       # the entry `main`, or the only one

Arrays come from NumPy, PyTorch, CuPy, or any package with ``__dlpack__``. Device arrays are used in
place, in the order of the current stream of PyTorch or CuPy; host arrays are copied. Results belong to
the package of the arguments.
"""

from ._core import version as __version__
from ._program import (
    CompileError,
    Device,
    Entry,
    Error,
    LaunchStatistics,
    Program,
    Signature,
    Slot,
    compile,
    explain,
    load,
    verify,
)

__all__ = [
    "CompileError",
    "Device",
    "Entry",
    "Error",
    "LaunchStatistics",
    "Program",
    "Signature",
    "Slot",
    "compile",
    "explain",
    "load",
    "verify",
    "__version__",
]
