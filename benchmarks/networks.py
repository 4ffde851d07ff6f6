#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole networks through gpu-runner, beside PyTorch, onnxruntime and IREE.

    benchmarks/networks.py resnet50.onnx mobilenet_v2.onnx --target=cuda --output=docs/benchmarks/networks
    benchmarks/networks.py *.onnx --target=cpu --threads=2 --peers=onnxruntime --rounds=2
    benchmarks/networks.py *.onnx --target=cuda --peers=iree --iree-modules=DIR --only-compile

Writes OUTPUT.md, OUTPUT.json and OUTPUT.svg, a chart of the ratios. The batch and the element type are
those of the files. Requires numpy and onnx. The peers, each of which is left out with a reason if it is
not installed or has no such network:

    graph        torchvision's network of the file's name, which may end in -bN for a batch; on CUDA a
                 CUDA graph of it
    compile      the same through torch.compile, on CUDA with mode="max-autotune"
    onnx2torch   the file itself as a module of PyTorch, op by op, with its weights; on CUDA a CUDA graph of
                 it. Its outputs are compared like IREE's
    onnxruntime  the file, on the CPU; it also gives the outputs that ours are compared with
    iree         the file, compiled by iree-compile; --iree-cuda-target, by default sm_80. With
                 --iree-modules=DIR, its modules DIR/NAME.vmfb are kept; those that are there already run
                 without the compiler, for example on a machine that has only iree-base-runtime. The
                 weights are not in a module: they are read from the ONNX file. DIR/NAME.txt has the
                 message of a compilation that failed. --only-compile makes them without a device.

Exit status 1 if a network of ours fails, or differs from onnxruntime by more than --tolerance of the
largest output.
"""

import argparse
import datetime
import html
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

#: The networks of torchvision by the names of ONNX's models; others have the same name in both.
TORCHVISION = {"bvlc_alexnet": "alexnet", "shufflenet_v2": "shufflenet_v2_x1_0", "squeezenet": "squeezenet1_0"}
TYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16}
PEERS = ("graph", "compile", "onnx2torch", "onnxruntime", "iree")
METHOD = """Random images and the weights of the files; ms of one inference. ours: the settled time of gpu-runner, runs
that follow each other, on CUDA as graphs; cold: the median of single runs after the caches were flushed. Peers: the
median of --runs, or of the runs that fit in --peer-seconds. With --rounds, ours and the peers take turns, and the least
of each counts. IREE: a call that waits for its result, without copying it to
the host. ratio: the time of the best peer by ours; above 1, ours is faster. error: the largest difference from
onnxruntime's output, by the largest output; the error of IREE and of onnx2torch is their difference from onnxruntime,
or from ours without it."""


class Missing(Exception):
    """Why a peer has no time for a network."""


def read_inputs(path):
    """Random inputs of a model, by name."""
    model = onnx.load(path, load_external_data=False)
    weights = {tensor.name for tensor in model.graph.initializer}
    generator, inputs = np.random.default_rng(0), {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        kind = value.type.tensor_type
        if kind.elem_type not in TYPES:
            raise Missing(f"input {value.name} is neither f32 nor f16")
        shape = [d.dim_value or 1 for d in kind.shape.dim]
        inputs[value.name] = generator.standard_normal(shape).astype(TYPES[kind.elem_type])
    return inputs


def first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


def median_ms(call, runs, seconds=math.inf):
    """The median of runs after 3 others. No run starts after so many seconds, but three are measured in any case."""
    begin = time.perf_counter()
    for _ in range(3):
        call()
        if time.perf_counter() - begin > seconds / 4:
            break
    times = []
    while len(times) < runs and (len(times) < 3 or time.perf_counter() - begin < seconds):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def get_error(outputs, wanted):
    """The largest difference of a list of arrays, by the largest element."""
    return max(float(np.abs(own.reshape(w.shape).astype(np.float64) - w).max() / max(np.abs(w).max(), 1e-30))
               if np.isfinite(own).all() else math.inf for own, w in zip(outputs, wanted))


#===------------------------------------------------------------------------------------------------===#
# Ours
#===------------------------------------------------------------------------------------------------===#


def run_ours(options, path, inputs, folder):
    """The JSON report of gpu-runner, and its outputs."""
    command = [options.runner, path, f"--target={options.target}", f"--bench={options.runs}", "--json"]
    for i, value in enumerate(inputs.values()):
        np.save(os.path.join(folder, f"in{i}.npy"), value)
        command.append(f"--arg=@{folder}/in{i}.npy")
    count = len(onnx.load(path, load_external_data=False).graph.output)
    command += [f"--out={i}={folder}/out{i}.npy" for i in range(count)]
    environment = dict(os.environ)
    if options.threads:
        environment["TESSERA_CPU_THREADS"] = str(options.threads)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=options.timeout,
                          env=environment, check=False)
    if done.returncode:
        raise Missing(first_line(" ".join(l for l in done.stderr.splitlines() if "error" in l) or done.stderr))
    return json.loads(done.stdout[done.stdout.index("{"):]), [np.load(f"{folder}/out{i}.npy") for i in range(count)]


#===------------------------------------------------------------------------------------------------===#
# Peers: `measure` returns the ms of a network and its outputs, or None for outputs of other weights
#===------------------------------------------------------------------------------------------------===#


class OnnxRuntime:
    def __init__(self, options):
        try:
            import onnxruntime
        except ImportError:
            raise Missing("onnxruntime is not installed") from None
        self.module, self.options = onnxruntime, options
        self.name = f"onnxruntime {onnxruntime.__version__}, CPU"

    def start(self, path):
        how = self.module.SessionOptions()
        how.intra_op_num_threads = self.options.threads or 0
        how.log_severity_level = 3
        return self.module.InferenceSession(path, how, providers=["CPUExecutionProvider"])

    def outputs(self, path, inputs):
        return self.start(path).run(None, inputs)

    def measure(self, path, name, inputs):
        if self.options.target != "cpu":
            raise Missing("measured on the CPU only")
        session = self.start(path)
        return median_ms(lambda: session.run(None, inputs), self.options.runs, self.options.peer_seconds), None


class Torch:
    def __init__(self, options, compiled):
        try:
            import torch
            import torchvision
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        self.on_device = options.target.startswith("cuda")
        if not self.on_device and options.target != "cpu":
            raise Missing(f"not measured for {options.target}")
        if self.on_device and not torch.cuda.is_available():
            raise Missing("PyTorch finds no CUDA device")
        if options.threads:
            torch.set_num_threads(options.threads)
        self.torch, self.models, self.options, self.compiled = torch, torchvision.models, options, compiled
        self.device = "cuda" if self.on_device else "cpu"
        how = "torch.compile" if compiled else "CUDA graph" if self.on_device else "eager"
        self.name = f"PyTorch {torch.__version__}, channels_last, {how}"
        torch.backends.cudnn.benchmark = True

    def make_model(self, path, name):
        """A module for inference on the device, with weights of the type of the file's input."""
        known = re.sub(r"-b\d+$", "", name)
        known = TORCHVISION.get(known, known)
        if known not in self.models.list_models():
            raise Missing("torchvision has no such network")
        more = {"init_weights": False, "aux_logits": False} if known in ("googlenet", "inception_v3") else {}
        return self.models.get_model(known, **more).eval().to(self.device, memory_format=self.torch.channels_last)

    def get_outputs(self, model, image):
        """None, since torchvision's networks have other weights than the file."""
        return None

    def measure(self, path, name, inputs):
        torch = self.torch
        if len(inputs) != 1:
            raise Missing("several inputs")
        image = torch.from_numpy(next(iter(inputs.values()))).to(self.device)
        if image.dim() == 4:
            image = image.to(memory_format=torch.channels_last)
        model = self.make_model(path, name).to(image.dtype)
        if self.compiled:
            model = torch.compile(model, mode="max-autotune") if self.on_device else torch.compile(model)
        with torch.inference_mode():
            outputs = self.get_outputs(model, image)
            if not self.on_device:
                return median_ms(lambda: model(image), self.options.runs, self.options.peer_seconds), outputs
            return self.replay(model, image), outputs

    def replay(self, model, image):
        """The median of replays of a CUDA graph between two events; torch.compile makes its own."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model(image)
        torch.cuda.current_stream().wait_stream(side)
        if self.compiled:
            call = lambda: model(image)
        else:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                model(image)
            call = graph.replay
        times = []
        for i in range(self.options.runs + 3):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        return statistics.median(times[3:])


def prepare_file(model):
    """Replaces what onnx2torch does not convert in a model by ops with the same values, where there are such ops: pads of
    SAME_UPPER and SAME_LOWER by numbers, an average pool with one window on all of the image by the global one, a
    dropout, which inference leaves out, by the identity, and shapes by constants. Returns the model, with the shapes of
    all values."""
    model = onnx.shape_inference.infer_shapes(model)
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim]
              for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    read = {name for node in model.graph.node for name in node.input} | {value.name for value in model.graph.output}
    for node in model.graph.node:
        if node.op_type == "Dropout" and read.isdisjoint(node.output[1:]):
            node.op_type = "Identity"
            del node.input[1:], node.output[1:], node.attribute[:]
        elif node.op_type == "Shape" and all(shapes.get(node.input[0], [0])) and not node.attribute:
            node.op_type = "Constant"
            node.attribute.append(onnx.helper.make_attribute("value_ints", shapes[node.input[0]]))
            del node.input[:]
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type not in ("Conv", "MaxPool", "AveragePool") or "kernel_shape" not in attributes:
            continue
        image, result, kernel = shapes[node.input[0]][2:], shapes[node.output[0]][2:], attributes["kernel_shape"]
        begins = attributes.get("pads", [0] * (2 * len(image)))[:len(image)]
        if (node.op_type == "AveragePool" and not attributes.get("count_include_pad") and set(result) == {1} and
                all(k >= n + pad for k, n, pad in zip(kernel, image, begins))):
            node.op_type = "GlobalAveragePool"
            del node.attribute[:]
        elif attributes.get("auto_pad", b"") in (b"SAME_UPPER", b"SAME_LOWER"):
            ones = [1] * len(image)
            sums = [max(0, (r - 1) * stride + (k - 1) * dilation + 1 - n) for r, stride, k, dilation, n in
                    zip(result, attributes.get("strides", ones), kernel, attributes.get("dilations", ones), image)]
            halves = [(total + (attributes["auto_pad"] == b"SAME_LOWER")) // 2 for total in sums]
            kept = [a for a in node.attribute if a.name not in ("auto_pad", "pads")]
            del node.attribute[:]
            node.attribute.extend(kept)
            node.attribute.append(onnx.helper.make_attribute("pads", halves + [t - h for t, h in zip(sums, halves)]))
    return model


class Onnx2Torch(Torch):
    """The file through onnx2torch, which makes a module of PyTorch for each op."""

    def __init__(self, options):
        super().__init__(options, compiled=False)
        try:
            import onnx2torch
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        self.convert = onnx2torch.convert
        self.name += ", of the file by onnx2torch"

    def make_model(self, path, name):
        try:
            model = self.convert(prepare_file(onnx.load(path))).eval()
        except NotImplementedError as error:
            raise Missing(f"onnx2torch: {first_line(error)}") from None
        model = model.to(self.device, memory_format=self.torch.channels_last)
        # Shapes are integers that its modules read on the host, which a CUDA graph can not wait for.
        for owner in model.modules():
            for key, value in owner.named_buffers(recurse=False):
                if not value.is_floating_point():
                    setattr(owner, key, value.cpu())
        return model

    def get_outputs(self, model, image):
        results = model(image)
        return [value.cpu().numpy() for value in (results if isinstance(results, (tuple, list)) else [results])]


class Iree:
    """Its compiler makes modules whose weights are parameters, and its runtime gets these from the ONNX file."""

    def __init__(self, options):
        if options.target != "cpu" and not options.target.startswith("cuda"):
            raise Missing(f"not measured for {options.target}")
        try:
            import iree.runtime
            import iree.runtime.version as version
        except ImportError:
            raise Missing("iree-base-runtime is not installed") from None
        self.runtime, self.options = iree.runtime, options
        self.driver = "cuda" if options.target != "cpu" else "local-task"
        chip = f", compiled for {options.iree_cuda_target}" if self.driver == "cuda" else ""
        self.name = f"IREE {version.VERSION}{chip}"

    def run_tool(self, *command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.options.timeout, check=False)
        except subprocess.TimeoutExpired:
            raise Missing(f"{command[0]} does not end within {self.options.timeout:.0f} s") from None
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error:" in line] or done.stderr.splitlines()
            raise Missing(f"{command[0]}: {re.sub(r'^.*?error: ', '', first_line(lines[0] if lines else ''))}")

    def compile(self, path, name):
        """The bytes of a module, from --iree-modules or by the compiler."""
        kept = os.path.join(self.options.iree_modules, name) if self.options.iree_modules else None
        if kept and os.path.exists(kept + ".vmfb"):
            with open(kept + ".vmfb", "rb") as file:
                return file.read()
        if kept and os.path.exists(kept + ".txt"):
            with open(kept + ".txt") as file:
                raise Missing(file.read().strip())
        if not shutil.which("iree-compile"):
            raise Missing("iree-base-compiler[onnx] is not installed, and --iree-modules has no such module")
        code, problem = None, None
        try:
            code = self.run_compiler(path)
        except Missing as error:
            problem = error
        if kept:
            os.makedirs(self.options.iree_modules, exist_ok=True)
            with open(kept + (".txt" if problem else ".vmfb"), "wb") as file:
                file.write(f"{problem}\n".encode() if problem else code)
        if problem:
            raise problem
        return code

    def run_compiler(self, path):
        flags = (["--iree-hal-target-device=cuda", f"--iree-cuda-target={self.options.iree_cuda_target}"]
                 if self.driver == "cuda" else
                 ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                  "--iree-llvmcpu-target-cpu=host"])
        with tempfile.TemporaryDirectory() as folder:
            program, module = os.path.join(folder, "n.mlir"), os.path.join(folder, "n.vmfb")
            # Tensors of some numbers, such as the sizes of a Reshape, stay in the program.
            self.run_tool("iree-import-onnx", path, "-o", program, "--externalize-params", "--no-save-params",
                          "--num-elements-threshold=7")
            self.run_tool("iree-compile", program, "--iree-input-type=onnx", "-o", module, *flags)
            with open(module, "rb") as file:
                return file.read()

    def measure(self, path, name, inputs):
        code, rt = self.compile(path, name), self.runtime
        config = rt.Config(self.driver)
        weights = rt.ParameterIndex()
        # They are read while the context is made, and must live until then.
        contents = {tensor.name: np.ascontiguousarray(onnx.numpy_helper.to_array(tensor))
                    for tensor in onnx.load(path).graph.initializer}
        for tensor, values in contents.items():
            weights.add_buffer(tensor, values)
        parameters = rt.create_io_parameters_module(config.vm_instance, weights.create_provider(scope="model"))
        vm = rt.VmModule.copy_buffer(config.vm_instance, code)
        context = rt.SystemContext(vm_modules=[parameters, rt.create_hal_module(config.vm_instance, config.device), vm],
                                   config=config)
        entry = next(f for f in vm.function_names if not f.startswith("__") and not f.endswith("$async"))
        call = context.modules[vm.name][entry]
        arrays = [rt.asdevicearray(config.device, value) for value in inputs.values()]
        results = call(*arrays)
        results = results if isinstance(results, tuple) else (results,)
        outputs = [np.asarray(result.to_host()) for result in results]
        # The call waits for the fence that its result is ready at.
        return median_ms(lambda: call(*arrays), self.options.runs, self.options.peer_seconds), outputs


def make_peers(options):
    """The peers that are here, and why others are not."""
    makers = {"graph": lambda: Torch(options, compiled=False), "compile": lambda: Torch(options, compiled=True),
              "onnx2torch": lambda: Onnx2Torch(options), "onnxruntime": lambda: OnnxRuntime(options),
              "iree": lambda: Iree(options)}
    peers, reasons = {}, {}
    for name in options.peers.split(","):
        if name not in makers:
            sys.exit(f"unknown peer '{name}'; known: {', '.join(PEERS)}")
        try:
            peers[name] = makers[name]()
        except Missing as error:
            reasons[name] = str(error)
    return peers, reasons


#===------------------------------------------------------------------------------------------------===#
# Results
#===------------------------------------------------------------------------------------------------===#


def keep_least(entry, ms):
    entry["ms"] = min(ms, entry.get("ms", math.inf))


def measure_ours(options, path, inputs, row):
    """Runs ours, and keeps its least times in the row. Returns the outputs."""
    with tempfile.TemporaryDirectory() as folder:
        report, outputs = run_ours(options, path, inputs, folder)
    bench = report["bench"]
    keep_least(row, bench["settled"]["ms"])
    row["cold"] = min(bench["median_ms"], row.get("cold", math.inf))
    # The first round compiles, where others find the program in the cache.
    row.setdefault("compile", sum(stage["ms"] for stage in report["compile"]) / 1e3)
    row.update(kernels=sum(kernel.get("launches", 0) for kernel in report["kernels"]),
               device=report["device"]["name"], driver=report["device"]["driver"], chip=report["chip"])
    return outputs


def measure_peer(library, path, inputs, entry, name, wanted):
    try:
        ms, own = library.measure(path, name, inputs)
        keep_least(entry, ms)
        if own is not None:
            entry["error"] = get_error(own, wanted)
    except Missing as error:
        entry["reason"] = str(error)
    except Exception as error:  # A peer that fails must not end the measurement of the others.
        entry["reason"] = f"failed: {first_line(error)}"


def measure_network(options, path, peers):
    name = os.path.splitext(os.path.basename(path))[0]
    row = {"network": name, "peers": {peer: {} for peer in peers}}
    try:
        inputs = read_inputs(path)
        row["shape"] = "x".join(map(str, next(iter(inputs.values())).shape))
        row["type"] = str(next(iter(inputs.values())).dtype)
        for turn in range(options.rounds):
            outputs = measure_ours(options, path, inputs, row)
            if turn == 0:
                wanted = outputs
                if "onnxruntime" in peers:
                    wanted = peers["onnxruntime"].outputs(path, inputs)
                    row["error"] = get_error(outputs, wanted)
            for peer, library in peers.items():
                if "reason" not in row["peers"][peer]:
                    measure_peer(library, path, inputs, row["peers"][peer], name, wanted)
    except (Missing, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
        row["failed"] = first_line(error)
    return row


def get_ratio(row):
    times = [peer["ms"] for peer in row["peers"].values() if "ms" in peer]
    return min(times) / row["ms"] if times and row.get("ms") else None


def get_ratios(results, name):
    """The ratios to one peer, by network."""
    return {row["network"]: row["peers"][name]["ms"] / row["ms"] for row in results["rows"]
            if "failed" not in row and "ms" in row["peers"][name]}


def get_limit(options, row):
    return options.tolerance or (1e-4 if row.get("type") == "float32" else 2e-2)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def get_clocks():
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=clocks.sm,clocks.mem,power.draw,driver_version",
                               "--format=csv,noheader"], capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.SubprocessError):
        return "unknown"


def write_markdown(results, image):
    names = list(results["peers"])
    lines = [f"# Networks on {results['device']}", "",
             f"{results['date']}; {results['system']}; clocks before and after: {results['clocks'][0]}; "
             f"{results['clocks'][1]}", "", f"Command: `{results['command']}`", ""]
    lines += [f"- {name}: {what}" for name, what in results["peers"].items()]
    lines += [f"- {name} was not measured: {why}" for name, why in results["missing"].items()]
    lines += ["", METHOD, "", f"![ratios]({image})", "",
              "| network | input | kernels | cold | ours | " + "".join(f"{n} | " for n in names) + "ratio | error | compile s |",
              "|---|---|---|---|---|" + "---|" * len(names) + "---|---|---|"]
    reasons = []
    for row in results["rows"]:
        if "failed" in row:
            lines.append(f"| {row['network']} | | | | failed | " + "| " * len(names) + "| | |")
            reasons.append(f"- {row['network']}: {row['failed']}")
            continue
        cells = []
        for name in names:
            peer = row["peers"][name]
            cells.append(f"{peer['ms']:.3f}" + (", wrong" if peer.get("error", 0) > row["limit"] else "")
                         if "ms" in peer else "")
            if peer.get("error", 0) > row["limit"]:
                reasons.append(f"- {row['network']}, {name}: its largest error is {peer['error']:.1e}")
            if "reason" in peer:
                reasons.append(f"- {row['network']}, {name}: {peer['reason']}")
        ratio = get_ratio(row)
        lines.append(f"| {row['network']} | {row['shape']} {row['type']} | {row['kernels']} | {row['cold']:.3f} | "
                     f"{row['ms']:.3f} | " + "".join(f"{c} | " for c in cells) +
                     f"{f'{ratio:.2f}' if ratio else ''} | {format(row['error'], '.1e') if 'error' in row else ''} | "
                     f"{row['compile']:.1f} |")
    ratios = [r for r in map(get_ratio, (r for r in results["rows"] if "failed" not in r)) if r]
    if ratios:
        lines += ["", f"Geometric mean of {len(ratios)} ratios: {geometric_mean(ratios):.2f}; the least: {min(ratios):.2f}."]
    for name in names:
        if own := get_ratios(results, name):
            lines += ["", f"{name} by ours, geometric mean of {len(own)}: {geometric_mean(own.values()):.2f}; "
                      f"from {min(own.values()):.2f} to {max(own.values()):.2f}."]
    if reasons:
        lines += ["", "Left out, or wrong:", "", *reasons]
    return "\n".join(lines) + "\n"


def draw(results):
    """Bars of the ratios to each peer on a logarithmic axis, with lines at powers of ten."""
    colors = {"graph": "#2a9d5c", "compile": "#457b9d", "onnx2torch": "#c05780", "onnxruntime": "#8d6cab",
              "iree": "#e09f3e"}
    series = {name: get_ratios(results, name) for name in results["peers"]}
    series = {name: ratios for name, ratios in series.items() if ratios}
    networks = [row["network"] for row in results["rows"] if any(row["network"] in own for own in series.values())]
    ratios = [ratio for own in series.values() for ratio in own.values()] or [1.0]
    low, high = math.floor(math.log10(min(ratios + [1.0]))), math.ceil(math.log10(max(ratios + [1.0])) + 0.01)
    width, left, bar = 720, 160, 12
    height = bar * len(series) + 8

    def get_x(ratio):
        return left + (math.log10(ratio) - low) / (high - low) * (width - left - 60)
    bottom = 30 + height * len(networks)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 24}" '
             'font-family="sans-serif" font-size="11">',
             f'<title>time of the peers by ours, {html.escape(results["device"])}</title>']
    for power in range(low, high + 1):
        x = get_x(10.0 ** power)
        parts += [f'<line x1="{x:.1f}" y1="26" x2="{x:.1f}" y2="{bottom}" stroke="{"#333" if power == 0 else "#ccc"}" '
                  'stroke-dasharray="4 3"/>',
                  f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{10.0 ** power:g}</text>']
    for i, name in enumerate(series):
        parts += [f'<rect x="{left + i * 130}" y="8" width="10" height="10" fill="{colors[name]}"/>',
                  f'<text x="{left + i * 130 + 14}" y="17">{html.escape(name)}</text>']
    for i, network in enumerate(networks):
        top = 30 + i * height
        parts.append(f'<text x="{left - 8}" y="{top + height / 2 + 2:.0f}" text-anchor="end">{html.escape(network)}</text>')
        for j, (name, own) in enumerate(series.items()):
            if network not in own:
                continue
            begin, end = sorted((get_x(1.0), get_x(own[network])))
            parts += [f'<rect x="{begin:.1f}" y="{top + j * bar + 2}" width="{max(end - begin, 1):.1f}" height="{bar - 2}" '
                      f'fill="{colors[name]}"/>',
                      f'<text x="{end + 4:.1f}" y="{top + j * bar + bar - 1}" font-size="10">{own[network]:.2f}</text>']
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def write_results(options, peers, missing, clocks, rows):
    device = next((row["device"] for row in rows if "device" in row), options.target)
    results = {"date": datetime.date.today().isoformat(), "system": f"{platform.system()} {platform.machine()}",
               "device": device, "target": options.target, "clocks": clocks,
               "command": " ".join(["benchmarks/networks.py", *(a if not a.endswith(".onnx") else os.path.basename(a)
                                                                for a in sys.argv[1:])]),
               "peers": {name: peer.name for name, peer in peers.items()}, "missing": missing, "rows": rows}
    folder = os.path.dirname(options.output)
    if folder:
        os.makedirs(folder, exist_ok=True)
    image = os.path.basename(options.output) + ".svg"
    for suffix, text in ((".md", write_markdown(results, image)), (".svg", draw(results)),
                         (".json", json.dumps(results, indent=1) + "\n")):
        with open(options.output + suffix, "w") as file:
            file.write(text)


def compile_alone(options):
    """--only-compile: the modules of IREE."""
    try:
        peer = Iree(options)
    except Missing as error:
        sys.exit(str(error))
    failures = 0
    for path in options.files:
        name, begin = os.path.splitext(os.path.basename(path))[0], time.perf_counter()
        try:
            print(f"{name:20} {len(peer.compile(path, name)) / 1e6:.1f} MB, {time.perf_counter() - begin:.1f} s", flush=True)
        except Missing as error:
            failures += 1
            print(f"{name:20} {error}", flush=True)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--target", default="cuda", help="for gpu-runner")
    parser.add_argument("--runner", default="gpu-runner")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1, help="turns of ours and the peers; the least time of each counts")
    parser.add_argument("--threads", type=int, help="of the CPU, for ours and for the peers")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one network of ours or of IREE's compiler")
    parser.add_argument("--tolerance", type=float, help="of the largest output; default 1e-4 for f32, 2e-2 for f16")
    parser.add_argument("--peer-seconds", type=float, default=20, help="for the runs of a peer on the host's clock")
    parser.add_argument("--iree-cuda-target", default="sm_80")
    parser.add_argument("--iree-modules", metavar="DIR", help="compiled modules, which are read or added")
    parser.add_argument("--only-compile", action="store_true", help="adds modules to --iree-modules, and ends")
    parser.add_argument("--output", default="networks", help="without a suffix")
    options = parser.parse_args()
    if options.only_compile:
        if not options.iree_modules:
            parser.error("--only-compile requires --iree-modules")
        return compile_alone(options)

    peers, missing = make_peers(options)
    for name, why in missing.items():
        print(f"{name} is left out: {why}", file=sys.stderr)
    clocks, rows, bad = [get_clocks()], [], 0
    for path in options.files:
        row = measure_network(options, path, peers)
        rows.append(row)
        row["limit"] = get_limit(options, row)
        wrong = "failed" in row or row.get("error", 0) > row["limit"]
        bad += wrong
        ratio = None if "failed" in row else get_ratio(row)
        print(f"{row['network']:20} " + (f"failed: {row['failed']}" if "failed" in row else
                                         f"{row['ms']:9.3f} ms, {row['kernels']} kernels, ratio "
                                         f"{f'{ratio:.2f}' if ratio else '-'}, error {row.get('error', math.nan):.1e}"
                                         + (", wrong" if wrong else "")), flush=True)
        # After each network, so that a run that is interrupted leaves those before.
        write_results(options, peers, missing, clocks + [get_clocks()], rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
