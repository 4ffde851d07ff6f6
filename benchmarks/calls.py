#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost and the safety of calls from Python, beside PyTorch's in the same process.

    benchmarks/calls.py                      # on the NVIDIA or AMD GPU of this machine
    benchmarks/calls.py --target=cpu         # the host's part, on a machine without a GPU
    benchmarks/calls.py --memory-calls=10000000

Requires the package `tessera` (scripts/python.sh) and PyTorch. It measures the host's time for a call,
captures programs in CUDA graphs on their first call and replays them on changed contents, calls from six
threads, alternates failing and succeeding calls, and checks that memory does not grow. It exits with 1
if a result is wrong or memory grows; the table comes last.
"""

import argparse
import gc
import os
import statistics
import sys
import threading
import time

import torch

import tessera

#: Microseconds for a call on an H200's machine.
TARGETS = {"out-parameter": 6.0, "result": 9.0}

OUT = """
func.func @main(%a: memref<{m}x{k}x{t}>, %b: memref<{k}x{n}x{t}>, %out: memref<{m}x{n}x{t}>) {{
  %ta = bufferization.to_tensor %a restrict : memref<{m}x{k}x{t}> to tensor<{m}x{k}x{t}>
  %tb = bufferization.to_tensor %b restrict : memref<{k}x{n}x{t}> to tensor<{k}x{n}x{t}>
  %zero = arith.constant 0.0 : {t}
  %e = tensor.empty() : tensor<{m}x{n}x{t}>
  %i = linalg.fill ins(%zero : {t}) outs(%e : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  %c = linalg.matmul ins(%ta, %tb : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>)
      outs(%i : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  bufferization.materialize_in_destination %c in restrict writable %out
      : (tensor<{m}x{n}x{t}>, memref<{m}x{n}x{t}>) -> ()
  return
}}
"""

RESULT = """
func.func @main(%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{t}> {{
  %zero = arith.constant 0.0 : {t}
  %e = tensor.empty() : tensor<{m}x{n}x{t}>
  %i = linalg.fill ins(%zero : {t}) outs(%e : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>)
      outs(%i : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  return %c : tensor<{m}x{n}x{t}>
}}
"""

# Dynamic sizes, and `steps` matmuls in a row with tensors of the program between them.
CHAIN_HEAD = """
func.func @main(%a: tensor<?x?x{t}>, %b: tensor<?x?x{t}>) -> tensor<?x?x{t}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : {t}
  %m = tensor.dim %a, %c0 : tensor<?x?x{t}>
  %n = tensor.dim %b, %c1 : tensor<?x?x{t}>
  %e = tensor.empty(%m, %n) : tensor<?x?x{t}>
  %i = linalg.fill ins(%zero : {t}) outs(%e : tensor<?x?x{t}>) -> tensor<?x?x{t}>
"""
CHAIN_STEP = """
  %p{to} = linalg.matmul ins({a}, %b : tensor<?x?x{t}>, tensor<?x?x{t}>) outs(%i : tensor<?x?x{t}>)
      -> tensor<?x?x{t}>
"""

CHECKED = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %fits = arith.cmpi ule, %size, %c64 : index
  cf.assert %fits, "x has more than 64 elements"
  %empty = tensor.empty(%size) : tensor<?xf32>
  %sum = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>)
      -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
"""

# One array of n x n elements: more memory than any device has, for large n.
LARGE = """
func.func @main(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = tensor.empty() : tensor<4xf32>
  %s = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  return %s, %i : tensor<4xf32>, tensor<?x?xf32>
}
"""

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "examples")


class Bench:
    def __init__(self, options):
        self.options = options
        self.device = "cpu" if options.target == "cpu" else "cuda"
        self.on_gpu = self.device == "cuda"
        self.dtype = torch.float16 if self.on_gpu else torch.float32
        self.type = "f16" if self.on_gpu else "f32"
        self.rows, self.failed = [], False
        self.tessera_device = tessera.Device.get(options.target)

    def compile(self, text, entry=None):
        return tessera.compile(text, target=self.options.target, file="calls.mlir", entry=entry)

    def chain(self, steps):
        text = CHAIN_HEAD.format(t=self.type)
        for step in range(steps):
            text += CHAIN_STEP.format(t=self.type, to=step, a=f"%p{step - 1}" if step else "%a")
        return text + f"  return %p{steps - 1} : tensor<?x?x{self.type}>\n}}\n"

    def integers(self, *shape, seed=0, dtype=None):
        """Small integers: matmuls of them are exact in f16."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(-1, 2, shape, generator=generator).to(self.device, dtype or self.dtype)

    def synchronize(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def add(self, what, value, note="", ok=True):
        self.failed |= not ok
        self.rows.append((what, value, note if ok else f"FAILED {note}".strip()))
        print(*self.rows[-1], file=sys.stderr, flush=True)

    # -- The host's time for a call ------------------------------------------------------------------

    def time_calls(self):
        size = self.options.size
        a, b = self.integers(size, size), self.integers(size, size, seed=1)
        out = torch.empty_like(a)
        sizes = dict(m=size, n=size, k=size, t=self.type)
        with_out = self.compile(OUT.format(**sizes))
        with_result = self.compile(RESULT.format(**sizes))
        dynamic = self.compile(self.chain(1))
        out_entry, result_entry, dynamic_entry = (
            program.entry(device=self.tessera_device) for program in (with_out, with_result, dynamic))
        expected = a @ b
        out_entry(a, b, out)
        for result in (out, result_entry(a, b), dynamic_entry(a, b), with_result(a, b)):
            self.synchronize()
            if not torch.equal(result, expected):
                self.add("results of the timed programs", "wrong", ok=False)
        bodies = {
            "out-parameter": lambda: out_entry(a, b, out),
            "result": lambda: result_entry(a, b),
            "result of dynamic size": lambda: dynamic_entry(a, b),
            "program with out-parameter": lambda: with_out(a, b, out),
            "program with result": lambda: with_result(a, b),
            "torch.matmul, out=": lambda: torch.matmul(a, b, out=out),
            "torch.matmul": lambda: torch.matmul(a, b),
        }
        # The queue of a GPU takes about a thousand launches: after that a call waits for the GPU.
        batch = 400
        times = {name: [] for name in bodies}
        gc.disable()
        for round in range(self.options.rounds + 1):
            for name, body in bodies.items():
                done, spent = 0, 0.0
                while done < self.options.calls:
                    self.synchronize()
                    start = time.perf_counter()
                    for _ in range(batch):
                        body()
                    spent += time.perf_counter() - start
                    done += batch
                # The first round is the warm-up.
                if round:
                    times[name].append(spent / done * 1e6)
        gc.enable()
        for name, values in times.items():
            target = TARGETS.get(name) if self.on_gpu else None
            value = statistics.median(values)
            note = f"{min(values):.2f} to {max(values):.2f}"
            if target:
                note += f"; at most {target:g}: {'yes' if value <= target else 'no'}"
            self.add(f"us per call, {name}", f"{value:.2f}", note)
        # The same memory with other contents: the launches of an earlier run are repeated.
        wrong, checks = 0, 100
        for check in range(checks):
            a.random_(-1, 2)
            out_entry(a, b, out)
            results = out, result_entry(a, b), dynamic_entry(a, b)
            wrong += sum(not torch.equal(result, a @ b) for result in results)
        self.add("results of repeated calls", f"{3 * checks}", f"{wrong} wrong", ok=wrong == 0)
        for name, entry in ("out-parameter", out_entry), ("result", result_entry):
            found = entry.launch_statistics()
            self.add(f"calls that repeat the launches of another, {name}",
                     f"{found.repeated_runs / (found.direct_runs + found.graph_runs):.4f}")

    # -- CUDA graphs ---------------------------------------------------------------------------------

    def capture_one(self, name, entry, inputs, out=None):
        """Captures the first call of an entry point, and replays it on other contents."""
        arguments = inputs if out is None else [*inputs, out]
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=stream):
                result = entry(*arguments)
        except Exception as error:
            self.add(f"graph of {name}", "not captured", str(error).splitlines()[0], ok=False)
            return
        result = out if out is not None else result
        wrong = 0
        for replay in range(self.options.replays):
            for tensor in inputs:
                tensor.random_(-1, 2)
            graph.replay()
            copy = result.clone()
            eager = entry(*arguments)
            eager = out if out is not None else eager
            wrong += not torch.equal(copy, eager)
        self.add(f"graph of {name}", f"{self.options.replays} replays", f"{wrong} differ from a call",
                 ok=wrong == 0)

    def capture(self):
        if not self.on_gpu:
            self.add("CUDA graphs", "skipped", "the target is the CPU")
            return
        square = dict(m=256, n=256, k=256, t=self.type)
        narrow = dict(m=64, n=64, k=16384, t=self.type)

        def entry(text, name=None):
            return self.compile(text, name).entry(name, self.tessera_device)

        def arrays(*shapes):
            return [self.integers(*shape, seed=seed) for seed, shape in enumerate(shapes)]

        self.capture_one("out-parameter", entry(OUT.format(**square)), arrays((256, 256), (256, 256)),
                         torch.zeros(256, 256, device=self.device, dtype=self.dtype))
        self.capture_one("result", entry(RESULT.format(**square)), arrays((256, 256), (256, 256)))
        self.capture_one("split-K", entry(RESULT.format(**narrow)), arrays((64, 16384), (16384, 64)))
        self.capture_one("unaligned rows", entry(RESULT.format(m=100, n=77, k=99, t=self.type)),
                         arrays((100, 99), (99, 77)))
        self.capture_one("dynamic sizes", entry(self.chain(1)), arrays((96, 64), (64, 64)))
        self.capture_one("three kernels", entry(self.chain(3)), arrays((96, 64), (64, 64)))
        with open(os.path.join(EXAMPLES, "07-attention.mlir")) as file:
            attention = file.read()
        self.capture_one("attention", entry(attention, "separate"),
                         arrays((2, 3, 100, 64), (2, 3, 77, 64), (2, 3, 77, 64)))

    # -- Threads -------------------------------------------------------------------------------------

    def threads(self):
        program = self.compile(self.chain(2))
        calls = max(self.options.calls // 20, 100)
        wrong = []

        def work(index, number):
            rows = 32 + 16 * index
            a, b = self.integers(rows, 64, seed=index), self.integers(64, 64, seed=99)
            expected = (a.double() @ b.double() @ b.double()).to(self.dtype)
            self.synchronize()
            stream = torch.cuda.Stream() if self.on_gpu else None
            with torch.cuda.stream(stream):
                for call in range(number):
                    result = program(a, b)
                    if call % 25 == 0 and not torch.equal(result, expected):
                        wrong.append((index, call))
            if stream:
                stream.synchronize()

        def run(count):
            workers = [threading.Thread(target=work, args=(index, calls)) for index in range(count)]
            start = time.perf_counter()
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            return (time.perf_counter() - start) / (calls * count) * 1e6

        run(self.options.threads)
        one, many = run(1), run(self.options.threads)
        self.add("us per call, one thread, two matmuls", f"{one:.2f}")
        self.add(f"us per call, {self.options.threads} threads", f"{many:.2f}",
                 f"{len(wrong)} results wrong", ok=not wrong)

    # -- Failing calls -------------------------------------------------------------------------------

    def failures(self):
        checked, large = self.compile(CHECKED), self.compile(LARGE)
        good = torch.arange(8, device=self.device, dtype=torch.float32)
        bad = torch.zeros(65, device=self.device)
        four = torch.arange(4, device=self.device, dtype=torch.float32)
        wrong = failed = 0
        mistakes = [(lambda: checked(bad), "more than 64 elements"),
                    (lambda: large(four, 1 << 31), ""),
                    (lambda: checked(good.double()), "expects float32")]
        if self.on_gpu:
            # 4 TiB, which the allocator rejects.
            mistakes.append((lambda: large(four, 1 << 20), ""))
        for call in range(self.options.failures):
            for body, message in mistakes:
                try:
                    body()
                    wrong += 1
                except (tessera.Error, TypeError, RuntimeError) as error:
                    failed += 1
                    wrong += message not in str(error)
            wrong += not torch.equal(checked(good), good + good)
            total, zeros = large(four, 3 + call % 5)
            wrong += not torch.equal(total, four + four) or bool(zeros.any())
        self.add("failing calls, with succeeding ones between", f"{failed}", f"{wrong} wrong",
                 ok=wrong == 0)

    # -- Memory --------------------------------------------------------------------------------------

    def memory(self):
        size = 64
        a, b = self.integers(size, size), self.integers(size, size, seed=1)
        out = torch.empty_like(a)
        sizes = dict(m=size, n=size, k=size, t=self.type)
        bodies = [(self.compile(OUT.format(**sizes)), (a, b, out)),
                  (self.compile(RESULT.format(**sizes)), (a, b)),
                  (self.compile(self.chain(2)), (a, b))]

        def run(count):
            for call in range(count):
                program, arguments = bodies[call % len(bodies)]
                program(*arguments)
                if call % 500 == 0:
                    self.synchronize()
            self.synchronize()
            gc.collect()

        def usage():
            with open("/proc/self/statm") as file:
                host = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            if not self.on_gpu:
                return host, 0
            free, total = torch.cuda.mem_get_info()
            return host, total - free

        count = self.options.memory_calls
        run(max(count // 10, 3000))
        before = usage()
        run(count)
        grown = [new - old for new, old in zip(usage(), before)]
        flat = grown[0] <= max(4 << 20, 0) and grown[1] <= 0
        self.add(f"bytes after {count} calls, host and device", f"{grown[0]:+d} {grown[1]:+d}",
                 "flat" if flat else "memory grows", ok=flat)

    def print_table(self):
        print(f"{self.tessera_device!r}, PyTorch {torch.__version__}, Tessera {tessera.__version__}, "
              f"Python {sys.version.split()[0]}; medians of {self.options.rounds} rounds of "
              f"{self.options.calls} calls, {self.options.size}x{self.options.size} {self.type}")
        widths = [max(len(row[column]) for row in self.rows) for column in range(3)]
        for what, value, note in self.rows:
            print(f"{what:{widths[0]}}  {value:>{widths[1]}}  {note}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = "hip" if torch.version.hip else "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--target", default=default, help="cpu, cuda or hip")
    parser.add_argument("--size", type=int, default=64, help="of the matrices whose calls are timed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=20000, help="in a round")
    parser.add_argument("--replays", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--failures", type=int, default=500)
    parser.add_argument("--memory-calls", type=int, default=200000)
    parser.add_argument("--only", default="calls,graphs,threads,failures,memory")
    bench = Bench(parser.parse_args())
    steps = {"calls": bench.time_calls, "graphs": bench.capture, "threads": bench.threads,
             "failures": bench.failures, "memory": bench.memory}
    for name in bench.options.only.split(","):
        steps[name]()
    bench.print_table()
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
