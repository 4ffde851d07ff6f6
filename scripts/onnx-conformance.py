#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ONNX's own node tests and counts the results.

  scripts/onnx-conformance.py [--runner=build/dev/bin/gpu-runner] [--target=cpu] [--filter=REGEX]
                              [--out=DIR] [--expect=FILE] [--list=FILE] [--light] [--jobs=N]
                              [--record=FILE] [--limit=SECONDS]

Needs the PyPI packages onnx and numpy. Each test is one model with inputs and expected outputs. They
run through tessera.onnx.Backend if the Python package can be imported, else or with --runner in one
process of gpu-runner (--batch); the process is restarted after a crash. A test whose shapes,
axes or pads are inputs of the graph is tried as it is, and then with its integer and small inputs
as initializers ("passed, inputs fixed").

  --list=FILE    writes a line for each test that does not pass: its result, its name, the first
                 line of the message
  --light        runs the models of the package instead, from alexnet to zfnet512, whose weights are
                 made by nodes, with its data
  --jobs=N       runs N processes at a time (1). Most of a test's time is compile time
  --record=FILE  appends a line of JSON for each test that has ended, and skips the tests that FILE
                 already has. An interrupted run continues with the same command
  --limit=SECONDS  ends after this time with exit status 75; needs --record
  --expect=FILE  exit status 1 if a test does not pass that FILE does not list in this form. Several
                 such options are added up: onnx-not-passing.tsv in test/Import/Inputs is for all
                 targets, onnx-not-passing-vulkan.tsv for Vulkan in addition, and -cuda.tsv for CUDA
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests

FLOATS_OF_8_BITS = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
# Types of which a model has an element in each byte.
BYTES = ("int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float8_e8m0fnu")
SIGNED = {"uint16": "int16", "uint32": "int32", "uint64": "int64", "uint8": "int8"}


def make_array(value):
    """An array as gpu-runner reads it; None if it cannot."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if isinstance(value, (list, dict, tuple)) or value is None:
        return None
    value = np.asarray(value)
    if value.dtype.name in SIGNED:
        return value.view(SIGNED[value.dtype.name])
    if value.dtype.name == "bfloat16":
        return value.view("V2")
    if value.dtype.name in FLOATS_OF_8_BITS:
        return value.view("V1")
    if value.dtype.name in BYTES:
        return value.view("int8")
    if value.dtype.kind not in "fib":
        return None
    return value


def read_array(path, like):
    got = np.load(path)
    return got.view(like.dtype) if got.dtype.itemsize == like.dtype.itemsize else got


class Case:
    def __init__(self, case, folder, fixed=False):
        self.name, self.rtol, self.atol = case.name, case.rtol, case.atol
        self.folder = os.path.join(folder, case.name + ("-fixed" if fixed else ""))
        self.case, self.fixed, self.why = case, fixed, None
        model = case.model
        inputs, outputs = case.data_sets[0]
        if fixed:
            model = onnx.ModelProto.FromString(model.SerializeToString())
            kept = []
            for i, (info, value) in enumerate(zip(list(model.graph.input), inputs)):
                kind = info.type.tensor_type.elem_type
                array = make_array(value)
                if kind in (onnx.TensorProto.INT64, onnx.TensorProto.INT32) or array.ndim == 0 or (
                        i > 0 and array.size <= 8):
                    model.graph.initializer.append(
                        value if isinstance(value, onnx.TensorProto)
                        else numpy_helper.from_array(np.asarray(value), info.name))
                    model.graph.initializer[-1].name = info.name
                    model.graph.input.remove(info)
                else:
                    kept.append(value)
            inputs = kept
        self.arrays = [make_array(v) for v in inputs]
        self.expected = [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v
                         for v in outputs]
        if any(a is None for a in self.arrays) or any(make_array(v) is None for v in self.expected):
            self.why = "its inputs or outputs are not tensors of supported types"
            return
        os.makedirs(self.folder, exist_ok=True)
        onnx.save(model, os.path.join(self.folder, "model.onnx"))
        for i, array in enumerate(self.arrays):
            np.save(os.path.join(self.folder, f"in{i}.npy"), array)

    def command(self, target):
        words = [os.path.join(self.folder, "model.onnx"), f"--target={target}", "--cache=off",
                 "--timeout=300"]
        words += [f"--arg=@{self.folder}/in{i}.npy" for i in range(len(self.arrays))]
        words += [f"--out={i}={self.folder}/out{i}.npy" for i in range(len(self.expected))]
        return " ".join(words)

    def compare(self, outputs=None):
        """The first difference of the outputs, or of those that gpu-runner wrote; None if they are right."""
        for i, want in enumerate(self.expected):
            want = np.asarray(want)
            got = (read_array(os.path.join(self.folder, f"out{i}.npy"), want) if outputs is None
                   else np.asarray(outputs[i]))
            if outputs is not None and got.dtype != want.dtype:
                return f"output {i} is of {got.dtype}, not {want.dtype}"
            if got.shape != want.shape:
                return f"output {i} has the shape {got.shape}, not {want.shape}"
            if want.dtype.name in ("bfloat16", *FLOATS_OF_8_BITS):
                got, want = got.astype(np.float32), want.astype(np.float32)
            if want.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    if not np.allclose(got.astype(float), want.astype(float), rtol=self.rtol,
                                       atol=self.atol, equal_nan=True):
                        worst = np.nanmax(np.abs(got.astype(float) - want.astype(float)))
                        return f"output {i} is off by {worst:.3g}"
            elif not np.array_equal(got, want):
                return f"output {i} differs in {(got != want).sum()} of {want.size} elements"
        return None


def load_light_models():
    """The models of the package, as tests like those of nodes."""
    root = os.path.dirname(os.path.dirname(onnx.__file__))
    tests = []
    for test in load_model_tests(kind="real"):
        path = os.path.join(root, test.url or "")
        if "/light/" not in path or not path.endswith(".onnx"):
            continue
        model = onnx.load(path)
        stored = {tensor.name for tensor in model.graph.initializer}
        inputs = []
        for info in model.graph.input:
            if info.name not in stored:
                shape = [d.dim_value or 1 for d in info.type.tensor_type.shape.dim]
                count = np.prod(shape)
                inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
        with open(path.replace(".onnx", "_output_0.pb"), "rb") as file:
            output = onnx.TensorProto.FromString(file.read())
        tests.append(TestCase(name=test.name, model_name=test.model_name, url=None, model_dir=None,
                              model=model, data_sets=[(inputs, [output])], kind="real",
                              rtol=test.rtol, atol=test.atol))
    return tests


class Record:
    """The verdicts of tests, which a file keeps from run to run."""

    def __init__(self, path):
        self.verdicts, self.file, self.lock = {}, None, threading.Lock()
        if path:
            if os.path.exists(path):
                with open(path) as file:
                    for line in file:
                        # An interrupted run may have left a part of a line.
                        if line.endswith("\n"):
                            name, fixed, verdict, why = json.loads(line)
                            self.verdicts[name, fixed] = verdict, why
            self.file = open(path, "a")

    def add(self, case, verdict, why):
        with self.lock:
            self.verdicts[case.name, case.fixed] = verdict, why
            if self.file:
                self.file.write(json.dumps([case.name, case.fixed, verdict, why]) + "\n")
                self.file.flush()


class OutOfTime(Exception):
    """The run has reached --limit."""


class Children:
    """The processes of a run, which end with it."""

    def __init__(self, limit):
        self.pids, self.lock, self.is_over = set(), threading.Lock(), False
        self.timer = threading.Timer(limit, self.end) if limit else None
        if self.timer:
            self.timer.daemon = True
            self.timer.start()

    def end(self):
        with self.lock:
            self.is_over = True
            for pid in self.pids:
                os.kill(pid, signal.SIGKILL)

    def start(self, begin):
        """The result of begin(), which starts a process and returns its id first."""
        with self.lock:
            if self.is_over:
                raise OutOfTime
            started = begin()
            self.pids.add(started[0])
            return started

    def wait(self, pid):
        """The exit status of a process, negative for a signal."""
        # It is not reaped before its id is removed, so that nothing else gets a signal.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with self.lock:
            self.pids.remove(pid)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if self.is_over:
            raise OutOfTime
        return status


def run_all(cases, record, run_some, options):
    """Runs the cases that have no verdict yet, in several processes. `run_some` runs a list of cases in
    one process, calls a function with each verdict, and returns how the process ended."""
    children = options.children

    def run_part(part):
        while part:
            done = []

            def note(verdict, why):
                record.add(part[len(done)], verdict, why)
                done.append(verdict)

            ending = run_some(part, note, children, options)
            if len(done) < len(part):
                # The process ended within this test.
                note("crashed", ending)
            part = part[len(done):]

    cases = [case for case in cases if (case.name, case.fixed) not in record.verdicts]
    parts = [cases[i::options.jobs] for i in range(options.jobs)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run_part, parts))


def run_batch(cases, note, children, options):
    """Runs the cases in one process of gpu-runner."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(case.command(options.target) for case in cases) + "\n")
        file.flush()

        def begin():
            process = subprocess.Popen([options.runner, f"--batch={file.name}"], text=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       errors="replace")
            return process.pid, process

        _, process = children.start(begin)
        text, number = [], 0
        for line in process.stderr:
            status = re.match(r"=== line \d+: exit status (\d+)$", line)
            if not status:
                text.append(line)
                continue
            note(*classify(cases[number], int(status[1]), "".join(text).strip()))
            text, number = [], number + 1
        process.stderr.close()
        status = process.returncode = children.wait(process.pid)
    return f"gpu-runner ended with {status}: " + "".join(text).strip()[-300:]


def run_in_process(case, backend):
    """Verdict and message of a test that runs through a backend in this process."""
    inputs = [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v
              for v in case.case.data_sets[0][0]]
    try:
        rep = backend.prepare(case.case.model)
        why = case.compare(rep.run(inputs))
    except Exception as error:
        return classify(case, 1, str(error))
    if why:
        return "wrong", why
    return ("passed, inputs fixed" if rep.fixed else "passed"), ""


def run_backend(cases, note, children, options):
    """Runs the cases through the Python package in a child process."""
    def begin():
        reader, writer = os.pipe()
        child = os.fork()
        if child != 0:
            os.close(writer)
            return child, reader
        os.close(reader)
        import tessera.onnx

        backend = type("Backend", (tessera.onnx.Backend,), {"target": options.target})
        with open(writer, "w") as pipe:
            for case in cases:
                signal.alarm(300)
                pipe.write(json.dumps(run_in_process(case, backend)) + "\n")
                pipe.flush()
        os._exit(0)

    child, reader = children.start(begin)
    with open(reader) as pipe:
        for line in pipe:
            if line.endswith("\n"):
                note(*json.loads(line))
    return f"the process ended with status {children.wait(child)}"


def run_cases(cases, folder, options):
    """Verdict and message of each test."""
    record = Record(options.record)
    run_some = run_batch if options.runner else run_backend
    run_all(cases, record, run_some, options)
    if options.runner:
        # The backend of the package does this itself.
        again = [Case(c.case, folder, fixed=True) for c in cases
                 if record.verdicts[c.name, False][0] == "not constant"]
        again = [case for case in again if not case.why]
        run_all(again, record, run_some, options)
    verdicts = {case.name: record.verdicts[case.name, False] for case in cases}
    for case in cases:
        verdict, why = record.verdicts.get((case.name, True), (None, None))
        if verdict:
            verdicts[case.name] = ("passed, inputs fixed", "") if verdict == "passed" else (verdict, why)
    return verdicts


def has_package():
    try:
        import tessera.onnx  # noqa: F401
    except ImportError:
        return False
    return True


def classify(case, status, text):
    errors = [line for line in text.splitlines()
              if "error" in line or line.startswith(("  node", "<model>:"))]
    first = re.sub(r"^(.*?error: |<model>:(\d+:\d+:)? )", "", errors[0]) if errors else text[:200]
    if status == 0:
        why = case.compare()
        return ("wrong", why) if why else ("passed", "")
    if "cannot be imported" in text:
        return "unsupported", " ".join(errors[1:2]).strip() or first
    if "must be constant" in text:
        return "not constant", first
    if "model.onnx" in text or "<model>" in text:
        return "rejected", first
    return "failed", first


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--list")
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--record")
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    if not options.runner and not has_package():
        parser.error("the Python package tessera cannot be imported: pass --runner, or install it")
    if options.limit and not options.record:
        parser.error("--limit needs --record, to continue")
    warnings.simplefilter("ignore")
    options.children = Children(options.limit)
    folder = options.out or tempfile.mkdtemp(prefix="onnx-conformance-")
    tests = load_light_models() if options.light else collect_testcases(None)
    known = [c for c in tests if re.search(options.filter, c.name)]
    cases = [Case(c, folder) for c in known]
    verdicts = {c.name: ("unsupported", c.why) for c in cases if c.why}
    runnable = [c for c in cases if not c.why]
    try:
        verdicts.update(run_cases(runnable, folder, options))
    except OutOfTime:
        print("not all tests have run: run the same command again", file=sys.stderr)
        sys.exit(75)
    counts = collections.Counter(verdict for verdict, _ in verdicts.values())
    if options.list:
        with open(options.list, "w") as file:
            for name, (verdict, why) in sorted(verdicts.items()):
                if not verdict.startswith("passed"):
                    file.write(f"{verdict}\t{name}\t{(why or '').splitlines()[0] if why else ''}\n")
    for verdict, count in counts.most_common():
        print(f"{count:5} {verdict}")
    if options.expect:
        listed = set()
        for path in options.expect:
            with open(path) as file:
                listed.update(line.split("\t")[1] for line in file if "\t" in line)
        lost = [n for n, (verdict, _) in verdicts.items()
                if not verdict.startswith("passed") and n not in listed]
        for name in lost:
            print(f"no longer passes: {name}: {verdicts[name]}")
        sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
