# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of examples/ that use the package."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def run(*words):
    done = subprocess.run([sys.executable, *map(str, words)], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_classifier_labels_images(tmp_path):
    folder = EXAMPLES / "08-onnx-classifier"
    # The same image with four times as many pixels, in binary.
    words = (folder / "three.pgm").read_text().split()
    rows = [bytes(int(word) for word in words[4 + 8 * y:12 + 8 * y] for _ in "xx") for y in range(8)]
    large = tmp_path / "large.pgm"
    large.write_bytes(b"P5\n16 16\n255\n" + b"".join(row * 2 for row in rows))
    text = run(folder / "classify.py", folder / "three.pgm", folder / "seven.pgm", large)
    assert "(image: uint8[batch, 1, 8, 8]) -> (probability: float32[batch, 10])" in text
    labels = re.findall(r"(\w+)\.pgm: (\w+) ([0-9.]+) %", text)
    assert [(name, label) for name, label, _ in labels] == [
        ("three", "three"), ("seven", "seven"), ("large", "three")]
    assert labels[0][2] == labels[2][2]


def test_classifier_is_accurate():
    pytest.importorskip("sklearn", reason="the test set is scikit-learn's")
    text = run(EXAMPLES / "08-onnx-classifier" / "classify.py", "--accuracy")
    accuracy, count = re.search(r"accuracy: ([0-9.]+) of (\d+) images", text).groups()
    assert int(count) == 360 and float(accuracy) >= 0.985


def test_torch_compile():
    pytest.importorskip("torch")
    pytest.importorskip("onnxscript", reason="PyTorch's ONNX exporter needs the package onnxscript")
    text = run(EXAMPLES / "09-torch-compile.py", "--device=cpu")
    differences = re.findall(r"(?:difference|weights:) ([0-9.e+-]+)\n", text)
    assert len(differences) == 4 and all(float(number) < 1e-5 for number in differences)
    # For the batch of 1, and for all others.
    assert text.count("a graph of") == 2
    assert "left to PyTorch: its inputs require a gradient" in text
