#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports three small networks by torch-mlir and by the importer, and compares what they compute.

  scripts/torch-mlir.py --runner=build/dev/bin/gpu-runner [--target=cpu] [--tools=DIR] [--out=DIR]

Needs the PyPI packages onnx, numpy and torch-mlir; the version of the last one is pinned here, since
its text changes. PyTorch is not needed.

  --tools=DIR    where torch-mlir-import-onnx and torch-mlir-opt are (default: beside this Python)

Exit status 1 if an import fails or the outputs differ by more than 1e-4 of the largest one.
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PINNED = "20261001"
RANDOM = np.random.default_rng(7)


def weight(name, *shape):
    values = RANDOM.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)
    return numpy_helper.from_array(values.astype(np.float32), name)


def make_model(name, nodes, weights, shape, result):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolutions():
    node = helper.make_node
    return make_model("convolutions", [
        node("Conv", ["x", "w1", "b1"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["b", "w2"], ["c"], pads=[1, 1, 1, 1], group=8),
        node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["d"], ["e"]),
        node("Gemm", ["e", "w3", "b3"], ["y"], transB=1),
    ], [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("w2", 8, 1, 3, 3),
        weight("w3", 10, 128), weight("b3", 10)], [2, 3, 16, 16], [2, 10])


def perceptron():
    node = helper.make_node
    return make_model("perceptron", [
        node("MatMul", ["x", "w1"], ["a"]),
        node("Add", ["a", "b1"], ["b"]),
        node("Sigmoid", ["b"], ["c"]),
        node("MatMul", ["c", "w2"], ["d"]),
        node("Softmax", ["d"], ["y"], axis=-1),
    ], [weight("w1", 20, 32), weight("b1", 32), weight("w2", 32, 12)], [5, 20], [5, 12])


def attention():
    node = helper.make_node
    return make_model("attention", [
        node("MatMul", ["x", "wq"], ["q"]),
        node("MatMul", ["x", "wk"], ["k"]),
        node("MatMul", ["x", "wv"], ["v"]),
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["s"]),
        node("Softmax", ["s"], ["p"], axis=-1),
        node("MatMul", ["p", "v"], ["o"]),
        node("Add", ["o", "x"], ["y"]),
    ], [weight("wq", 16, 16), weight("wk", 16, 16), weight("wv", 16, 16)], [2, 9, 16], [2, 9, 16])


def run(command):
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"{' '.join(command)}\nexit status {process.returncode}: "
                 f"{process.stderr.strip()[-2000:]}")


def compare(model, options, folder):
    """The largest difference of the two outputs, relative to the largest element."""
    path = os.path.join(folder, model.graph.name)
    onnx.save(model, path + ".onnx")
    run([os.path.join(options.tools, "torch-mlir-import-onnx"), path + ".onnx", "-o",
         path + "-torch.mlir"])
    run([os.path.join(options.tools, "torch-mlir-opt"), path + "-torch.mlir",
         "--torch-onnx-to-torch-backend-pipeline",
         "--torch-backend-to-linalg-on-tensors-backend-pipeline", "-o", path + ".mlir"])
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    np.save(path + "-x.npy", RANDOM.standard_normal(shape).astype(np.float32))
    results = []
    for program, entry in ((path + ".onnx", "main"), (path + ".mlir", model.graph.name)):
        run([options.runner, program, f"--target={options.target}", f"--entry={entry}",
             f"--arg=@{path}-x.npy", f"--out=0={path}-y.npy"])
        results.append(np.load(path + "-y.npy"))
    ours, theirs = results
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--tools", default=os.path.dirname(sys.executable))
    parser.add_argument("--out")
    options = parser.parse_args()
    found = importlib.metadata.version("torch-mlir")
    if found != PINNED:
        sys.exit(f"torch-mlir {found} is installed; this script is for {PINNED}: "
                 f"pip install torch-mlir=={PINNED}")
    folder = options.out or tempfile.mkdtemp(prefix="torch-mlir-")
    os.makedirs(folder, exist_ok=True)
    worst = 0
    for model in (convolutions(), perceptron(), attention()):
        difference = compare(model, options, folder)
        print(f"{model.graph.name:14} differs by {difference:.2g}")
        worst = max(worst, difference)
    sys.exit(1 if not worst <= 1e-4 else 0)


if __name__ == "__main__":
    main()
