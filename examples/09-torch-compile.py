#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module of PyTorch through torch.compile(backend="tessera").

  python 09-torch-compile.py                  on the GPU, or the CPU if there is none
  python 09-torch-compile.py --device=cpu

Needs the PyPI packages torch, onnx and onnxscript. Shows that parameters are shared with the module,
that a second batch makes the batch dynamic, and what is left to PyTorch.
"""

import argparse
import logging
import warnings

import tessera.torch
import torch


class Network(torch.nn.Module):
    """Convolutions with a residual connection, and a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.block = torch.nn.Sequential(
            torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3, padding=1))
        self.head = torch.nn.Linear(16, 10)

    def forward(self, image):
        x = self.stem(image)
        x = x + self.block(x)
        return self.head(x.mean((2, 3)))


def difference(compiled, module, image):
    expected = module(image)
    return ((compiled(image) - expected).norm() / expected.norm()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    device = parser.parse_args().device
    # A line for each graph that is compiled.
    logging.basicConfig(format="%(message)s")
    logging.getLogger("tessera.torch").setLevel(logging.INFO)
    torch.manual_seed(0)
    module = Network().eval().to(device)

    # With options={"fallback": False}, a graph that cannot be compiled is an error.
    compiled = torch.compile(module, backend="tessera", options={"fallback": False})
    with torch.no_grad():
        for batch in (1, 4, 6):
            image = torch.randn(batch, 3, 32, 32, device=device)
            print(f"batch {batch}: relative difference {difference(compiled, module, image):.1e}")
        module.head.weight.mul_(2)
        print(f"after a change of the weights: {difference(compiled, module, image):.1e}")

    # Programs are forward only.
    trained = torch.compile(module, backend="tessera")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tessera.torch.FallbackWarning)
        trained(image).sum().backward()
    print(next(str(warning.message) for warning in caught
               if issubclass(warning.category, tessera.torch.FallbackWarning)))


if __name__ == "__main__":
    main()
