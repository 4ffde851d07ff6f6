#!/usr/bin/env python3
"""Matrix products: gpu-runner beside the vendor's library, in one run.

    benchmarks/matmul.py --target=cpu  --runner=build/release/bin/gpu-runner
    benchmarks/matmul.py --target=cuda --runner=gpu-runner

On the CPU the peer is OpenBLAS (libopenblas.so.0, through its C interface); on
CUDA it is cuBLAS, through PyTorch. Both sides get random data. Ours is verified
in the run that times it. On CUDA every timed run starts with a cold L2 on both
sides. The two are timed in turn, `--rounds` times, and the median of the rounds'
medians is reported: what disturbs the machine disturbs both.

Writes a table in Markdown to --output, or to standard output.
"""

import argparse
import ctypes
import ctypes.util
import datetime
import platform
import statistics
import sys
import tempfile
import time

from common import TYPES, Failed, matmul, run

CASES = {
    "cpu": [("f32", 1024, 1024, 1024), ("f32", 512, 512, 512), ("f32", 1000, 1000, 1000),
            ("f32", 2048, 2048, 2048), ("f64", 1024, 1024, 1024)],
    "cuda": [("f16", 1024, 1024, 1024), ("f16", 2048, 2048, 2048), ("f16", 4096, 4096, 4096),
             ("f16", 8192, 8192, 8192), ("bf16", 4096, 4096, 4096), ("tf32", 4096, 4096, 4096),
             ("f32", 4096, 4096, 4096), ("f64", 4096, 4096, 4096), ("i8", 4096, 4096, 4096),
             ("f16", 1000, 1000, 1000), ("f16", 4097, 4095, 4093), ("f16", 128, 4096, 4096),
             ("f16", 16, 4096, 4096)],
}


class OpenBlas:
    """cblas_sgemm and cblas_dgemm, row-major, in milliseconds per call."""

    def __init__(self):
        name = ctypes.util.find_library("openblas") or "libopenblas.so.0"
        try:
            self.library = ctypes.CDLL(name)
        except OSError:
            sys.exit("error: OpenBLAS is not here; install Debian's libopenblas-dev")
        self.library.openblas_get_config.restype = ctypes.c_char_p
        self.name = self.library.openblas_get_config().decode()

    def time(self, kind, m, n, k):
        scalar, gemm = ((ctypes.c_float, self.library.cblas_sgemm) if kind == "f32" else
                        (ctypes.c_double, self.library.cblas_dgemm))
        import random
        random.seed(0)
        a = (scalar * (m * k))(*(random.uniform(-1, 1) for _ in range(m * k)))
        b = (scalar * (k * n))(*(random.uniform(-1, 1) for _ in range(k * n)))
        c = (scalar * (m * n))()
        row_major, no_trans = 101, 111
        times = []
        for i in range(13):
            start = time.perf_counter()
            gemm(row_major, no_trans, no_trans, m, n, k, scalar(1), a, k, b, n, scalar(0), c, n)
            times.append((time.perf_counter() - start) * 1e3)
        return statistics.median(times[3:])


class CuBlas:
    """torch.mm, in milliseconds per call by device events, with a cold L2."""

    def __init__(self):
        import torch
        self.torch = torch
        self.name = f"cuBLAS through PyTorch {torch.__version__}"
        self.scratch = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def time(self, kind, m, n, k):
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32,
                 "f32": torch.float32, "f64": torch.float64, "i8": torch.int8}[kind]
        if kind == "i8":
            if k % 8 or n % 8 or m <= 16:
                return None
            a = torch.randint(-8, 8, (m, k), dtype=dtype, device="cuda")
            b = torch.randint(-8, 8, (k, n), dtype=dtype, device="cuda")
            call = lambda: torch._int_mm(a, b)
        else:
            a = (torch.rand(m, k, device="cuda") * 2 - 1).to(dtype)
            b = (torch.rand(k, n, device="cuda") * 2 - 1).to(dtype)
            call = lambda: torch.mm(a, b)
        times = []
        for i in range(40):
            self.scratch.fill_(i % 127)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        return statistics.median(times[10:])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=CASES, default="cpu")
    parser.add_argument("--runner", default="gpu-runner")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output")
    args = parser.parse_args()
    peer = OpenBlas() if args.target == "cpu" else CuBlas()

    rows, device = [], None
    for kind, m, n, k in CASES[args.target]:
        operand, result, options = TYPES[kind]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(matmul(operand, result, m, n, k))
            file.flush()
            ours, theirs, report = [], [], None
            for _ in range(args.rounds):
                try:
                    report = run(args.runner, args.target, file.name, ["--verify", *options])
                except Failed as failure:
                    sys.exit(f"error: {failure}")
                ours.append(report["bench"]["median_ms"])
                theirs.append(peer.time(kind, m, n, k))
        device = report["device"]
        mine = statistics.median(ours)
        other = statistics.median(theirs) if theirs[0] is not None else None
        rate = 2.0 * m * n * k / 1e9
        product = report["products"][0]
        rows.append((kind, f"{m}x{n}x{k}", product["instruction"], report["kernels"][0].get("schedule", ""),
                     mine, rate / mine, other, rate / other if other else None,
                     other / mine if other else None))
        print(f"{kind} {m}x{n}x{k}: {rate / mine:.1f} TFLOP/s", file=sys.stderr) if args.target == "cuda" \
            else print(f"{kind} {m}x{n}x{k}: {rate / mine * 1e3:.1f} GFLOP/s", file=sys.stderr)

    unit, scale = ("TFLOP/s", 1.0) if args.target == "cuda" else ("GFLOP/s", 1e3)
    text = [f"# Matrix products on {device.get('name', args.target)}", "",
            f"{datetime.date.today()}; {platform.platform()}; peer: {peer.name}.", "",
            "Command: `benchmarks/matmul.py --target=" + args.target + "`. Random data; medians; "
            "every case verified against the reference in the same run. The ratio is the peer's "
            "time over ours: above 1, ours is faster.", "",
            f"| type | MxNxK | instruction | ours ms | ours {unit} | peer ms | peer {unit} | ratio |",
            "|---|---|---|---|---|---|---|---|"]
    for kind, shape, instruction, _, ms, flops, other, other_flops, ratio in rows:
        text.append(f"| {kind} | {shape} | `{instruction}` | {ms:.4f} | {flops * scale:.1f} | " +
                    (f"{other:.4f} | {other_flops * scale:.1f} | {ratio:.2f} |" if other else "refused | - | - |"))
    text += ["", "Schedules:", ""]
    for schedule in dict.fromkeys((row[0], row[3]) for row in rows):
        text.append(f"- {schedule[0]}: `{schedule[1]}`")
    text = "\n".join(text) + "\n"
    if args.output:
        with open(args.output, "w") as file:
            file.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
