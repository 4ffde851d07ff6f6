#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the network of digits.onnx and writes it, with two images of its test set.

  python train.py

Needs the PyPI packages torch, scikit-learn and onnx. The data are scikit-learn's 1,797 digits of 8x8
pixels; every fifth one is for the test. Prints the accuracy on these.
"""

import pathlib

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).parent


def train(images, labels):
    """A network of two convolutions, for images of pixels from 0 to 1."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(128, 10))
    images, labels = torch.from_numpy(images), torch.from_numpy(labels)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-2)
    steps = 1500
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        chosen = torch.randint(len(images), (64,))
        loss = torch.nn.functional.cross_entropy(network(images[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return network.eval()


def write(network, path):
    """The network as a model whose batch is open and whose pixels are from 0 to 255."""
    weights = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    weights["white"] = np.float32(255)
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        helper.make_node("Cast", ["image"], ["pixels"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["pixels", "white"], ["scaled"]),
        helper.make_node("Conv", ["scaled", "0.weight", "0.bias"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], **pool),
        helper.make_node("Conv", ["c", "3.weight", "3.bias"], ["d"], name="second", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["d"], ["e"]),
        helper.make_node("MaxPool", ["e"], ["f"], **pool),
        helper.make_node("Flatten", ["f"], ["g"]),
        helper.make_node("Gemm", ["g", "8.weight", "8.bias"], ["h"], name="linear", transB=1),
        helper.make_node("Softmax", ["h"], ["probability"]),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.UINT8, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def write_image(pixels, path):
    rows = [" ".join(f"{pixel:3}" for pixel in row) for row in pixels]
    path.write_text("P2\n8 8\n255\n" + "\n".join(rows) + "\n")


def main():
    data = load_digits()
    pixels = np.round(data.images * (255 / 16)).astype(np.uint8)
    images = (pixels / np.float32(255))[:, None]
    is_test = np.arange(len(images)) % 5 == 0
    network = train(images[~is_test], data.target[~is_test])
    with torch.no_grad():
        found = network(torch.from_numpy(images[is_test])).argmax(1).numpy()
    print(f"accuracy: {(found == data.target[is_test]).mean():.3f} of {is_test.sum()} images")
    write(network, FOLDER / "digits.onnx")
    for digit, name in ((3, "three"), (7, "seven")):
        index = next(i for i in np.flatnonzero(is_test) if data.target[i] == digit)
        write_image(pixels[index], FOLDER / f"{name}.pgm")


if __name__ == "__main__":
    main()
