# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peers of a measurement. `prepare(case)` returns a function that runs the case once and reports how
long it took, in milliseconds; `Rejected` gives the reason why the library rejects a case."""

import ctypes
import ctypes.util
import random
import statistics
import time


class Rejected(Exception):
    """The library has no such matmul."""


class OpenBlas:
    """cblas_sgemm and cblas_dgemm, row-major, on the CPU."""

    def __init__(self):
        name = ctypes.util.find_library("openblas") or "libopenblas.so.0"
        try:
            self.library = ctypes.CDLL(name)
        except OSError:
            raise Rejected("OpenBLAS is not here; install Debian's libopenblas0-pthread") from None
        self.library.openblas_get_config.restype = ctypes.c_char_p
        self.name = self.library.openblas_get_config().decode()

    def prepare(self, case):
        if case.kind != "gemm" or case.type not in ("f32", "f64"):
            raise Rejected("no such matmul in BLAS")
        m, n, k = case.shape
        scalar, call = ((ctypes.c_float, self.library.cblas_sgemm) if case.type == "f32" else
                        (ctypes.c_double, self.library.cblas_dgemm))
        generator = random.Random(0)
        a = (scalar * (m * k))(*(generator.uniform(-1, 1) for _ in range(m * k)))
        b = (scalar * (k * n))(*(generator.uniform(-1, 1) for _ in range(k * n)))
        c = (scalar * (m * n))()
        row_major, no_trans = 101, 111
        scratch = ctypes.create_string_buffer(256 << 20)

        def once():
            ctypes.memset(scratch, 1, len(scratch))  # Nothing of the operands is left in the caches.
            start = time.perf_counter()
            call(row_major, no_trans, no_trans, m, n, k, scalar(1), a, k, b, n, scalar(0), c, n)
            return (time.perf_counter() - start) * 1e3
        return once


class Torch:
    """PyTorch's own choice: cuBLAS for matmuls, cuDNN for convolutions. With `compiled`, what its
    compiler makes of fused cases."""

    def __init__(self, compiled=False):
        try:
            import torch
        except ImportError:
            raise Rejected("PyTorch is not here") from None
        if not torch.cuda.is_available():
            raise Rejected("PyTorch sees no CUDA device")
        self.torch, self.compiled = torch, compiled
        self.name = (f"PyTorch {torch.__version__}, torch.compile" if compiled else
                     f"PyTorch {torch.__version__} (cuBLAS {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()})")
        self.scratch = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
        torch.backends.cudnn.benchmark = True

    def random(self, kind, *shape):
        torch = self.torch
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "f32": torch.float32,
                 "f64": torch.float64, "i8": torch.int8, "f8": torch.float8_e4m3fn}[kind]
        if kind == "i8":
            return torch.randint(-128, 128, shape, dtype=dtype, device="cuda")
        return (torch.rand(*shape, device="cuda") * 2 - 1).to(dtype)

    def operation(self, case):
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = case.type == "tf32"
        if case.kind == "gemm":
            m, n, k = case.shape
            a = self.random(case.type, m, k)
            if case.type == "f8":
                b = self.random(case.type, n, k).t()
                one = torch.ones((), device="cuda")
                return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.float32)
            b = self.random(case.type, k, n)
            return (lambda: torch._int_mm(a, b)) if case.type == "i8" else (lambda: torch.mm(a, b))
        if case.kind == "batched":
            count, m, n, k = case.shape
            a, b = self.random(case.type, count, m, k), self.random(case.type, count, k, n)
            return lambda: torch.bmm(a, b)
        if case.kind == "fused":
            m, n, k = case.shape
            a, b = self.random(case.type, m, k), self.random(case.type, k, n)
            bias, residual = self.random(case.type, n), self.random(case.type, m, n)
            function = lambda: torch.relu(torch.addmm(bias, a, b)) + residual
            return torch.compile(function, mode="max-autotune-no-cudagraphs") if self.compiled else function
        if case.kind == "attention":
            return self.attention(case)
        batch, size, channels, filters, window, stride = case.shape
        x = self.random(case.type, batch, channels, size, size).to(memory_format=torch.channels_last)
        w = self.random(case.type, filters, channels, window, window).to(memory_format=torch.channels_last)
        return lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=window // 2)

    def attention(self, case):
        """The fastest of the backends that take the case."""
        torch = self.torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        heads, queries, keys, size = case.shape
        q, k, v = (self.random(case.type, 1, heads, length, size) for length in (queries, keys, keys))

        def call():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=case.more["causal"])

        times, refusals = {}, []
        for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
            try:
                with sdpa_kernel(backend):
                    measure(lambda: self.elapsed(call), 3)
                    times[backend] = measure(lambda: self.elapsed(call), 10)
            except RuntimeError as error:
                refusals.append(f"{backend.name}: {str(error).splitlines()[0]}")
        if not times:
            raise Rejected("; ".join(refusals)[:120])
        best = min(times, key=times.get)
        # Set once, and not by a context around each call, which the call would be timed with.
        torch.backends.cuda.enable_cudnn_sdp(best == SDPBackend.CUDNN_ATTENTION)
        torch.backends.cuda.enable_flash_sdp(best == SDPBackend.FLASH_ATTENTION)
        torch.backends.cuda.enable_mem_efficient_sdp(best == SDPBackend.EFFICIENT_ATTENTION)
        torch.backends.cuda.enable_math_sdp(False)
        case.more["backend"] = best.name
        return call

    def prepare(self, case):
        torch = self.torch
        if self.compiled and case.kind != "fused":
            raise Rejected("only fused cases are compiled")
        call = self.operation(case)
        try:
            for _ in range(3):
                call()
            torch.cuda.synchronize()
        except RuntimeError as error:
            raise Rejected(str(error).splitlines()[0][:120]) from None
        pattern = 0

        def once():
            nonlocal pattern
            pattern = (pattern + 1) % 127
            self.scratch.fill_(pattern)  # Nothing of the operands is left in the L2.
            return self.elapsed(call)
        return once

    def elapsed(self, call):
        """Milliseconds that `call` takes, by the device's events."""
        torch = self.torch
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)


class Triton:
    """A matmul as Triton's users write it, with a tile found by its autotuner."""

    def __init__(self):
        try:
            import triton_matmul
        except ImportError as error:
            raise Rejected(f"Triton is not here: {error}") from None
        self.torch = Torch()
        self.name = f"Triton {triton_matmul.version()}"
        self.matmul = triton_matmul.matmul

    def prepare(self, case):
        if case.kind != "gemm" or case.type not in ("f16", "bf16"):
            raise Rejected("no program for it")
        m, n, k = case.shape
        a, b = self.torch.random(case.type, m, k), self.torch.random(case.type, k, n)
        peer = self.torch
        saved, peer.operation = peer.operation, lambda _: lambda: self.matmul(a, b)
        try:
            return peer.prepare(case)
        finally:
            peer.operation = saved


PEERS = {"openblas": OpenBlas, "torch": Torch, "compile": lambda: Torch(compiled=True), "triton": Triton}
DEFAULTS = {"cpu": ["openblas"], "cuda": ["torch"]}


def measure(once, runs):
    """The median of so many runs."""
    return statistics.median(once() for _ in range(runs))
