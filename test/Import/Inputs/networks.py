#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a network as text for write-onnx.py: networks.py resnet50|densenet121|mobilenet_v2|efficientnet_b0|zfnet512 [TYPE [BATCH]]

TYPE is f32 or f16, by default f32, and BATCH by default 1.
The layers are those of the papers, with the sizes of the published models; weights repeat a few
numbers. Batch normalization follows each convolution as an operator of its own. zfnet512 ends with one
layer after a mean, rather than with three.
"""

import sys

TYPE, BATCH = (sys.argv[2:] + ["f32", "1"][len(sys.argv) - 2:])[:2] if len(sys.argv) > 1 else ("f32", "1")


class Network:
    """Collects the lines of a model. Tensors are named in the order of their creation."""

    def __init__(self, name):
        self.lines = ["opset 17", f"name {name}", f"input image: {TYPE}[{BATCH}, 3, 224, 224]",
                      f"tensor low: {TYPE}[] = [0]", f"tensor high: {TYPE}[] = [6]"]
        self.count = 0
        self.channels = {"image": 3}

    def add(self, text):
        self.count += 1
        self.lines.append(f"r{self.count} = {text}")
        return f"r{self.count}"

    def weight(self, *sizes):
        self.count += 1
        self.lines.append(f"tensor w{self.count}: {TYPE}[{', '.join(map(str, sizes))}] = seq")
        return f"w{self.count}"

    def convolve(self, x, outputs, size=1, stride=1, groups=1, bias=False):
        inputs, pad = self.channels[x], size // 2
        operands = [x, self.weight(outputs, inputs // groups, size, size)]
        if bias:
            operands.append(self.weight(outputs))
        result = self.add(f"Conv({', '.join(operands)}) {{strides=[{stride}, {stride}], "
                          f"pads=[{pad}, {pad}, {pad}, {pad}], kernel_shape=[{size}, {size}], group={groups}}}")
        self.channels[result] = outputs
        return result

    def same(self, text, x):
        result = self.add(text)
        self.channels[result] = self.channels[x]
        return result

    def normalize(self, x):
        parameters = [self.weight(self.channels[x]) for _ in range(4)]
        return self.same(f"BatchNormalization({x}, {', '.join(parameters)}) {{epsilon=1e-05}}", x)

    def relu(self, x):
        return self.same(f"Relu({x})", x)

    def clip(self, x):
        return self.same(f"Clip({x}, low, high)", x)

    def swish(self, x):
        return self.same(f"Mul({x}, {self.same(f'Sigmoid({x})', x)})", x)

    def pool(self, kind, x, size, stride, pad=0):
        return self.same(f"{kind}Pool({x}) {{strides=[{stride}, {stride}], pads=[{pad}, {pad}, {pad}, {pad}], "
                         f"kernel_shape=[{size}, {size}]}}", x)

    def classify(self, x, softmax=False):
        pooled = self.same(f"GlobalAveragePool({x})", x)
        flat = self.add(f"Flatten({pooled}) {{axis=1}}")
        w, b = self.weight(1000, self.channels[x]), self.weight(1000)
        result = self.add(f"Gemm({flat}, {w}, {b}) {{transB=1}}")
        if softmax:
            result = self.add(f"Softmax({result}) {{axis=-1}}")
        self.lines.append(f"output {result}: {TYPE}[{BATCH}, 1000]")
        print("\n".join(self.lines))


def resnet50():
    n = Network("resnet50")
    x = n.pool("Max", n.relu(n.normalize(n.convolve("image", 64, 7, 2))), 3, 2, 1)
    for stage, blocks in enumerate([3, 4, 6, 3]):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = n.relu(n.normalize(n.convolve(x, width)))
            y = n.relu(n.normalize(n.convolve(y, width, 3, stride)))
            y = n.normalize(n.convolve(y, 4 * width))
            shortcut = x if block else n.normalize(n.convolve(x, 4 * width, 1, stride))
            x = n.relu(n.same(f"Add({y}, {shortcut})", y))
    n.classify(x, softmax=True)


def densenet121():
    n = Network("densenet121")
    x = n.pool("Max", n.relu(n.normalize(n.convolve("image", 64, 7, 2))), 3, 2, 1)
    for stage, blocks in enumerate([6, 12, 24, 16]):
        for _ in range(blocks):
            y = n.convolve(n.relu(n.normalize(x)), 128)
            y = n.convolve(n.relu(n.normalize(y)), 32, 3)
            both = n.add(f"Concat({x}, {y}) {{axis=1}}")
            n.channels[both] = n.channels[x] + 32
            x = both
        x = n.relu(n.normalize(x))
        if stage < 3:
            x = n.pool("Average", n.convolve(x, n.channels[x] // 2), 2, 2)
    n.classify(x)


def invert(n, x, expand, outputs, size, stride, activate, squeeze=0):
    """An inverted residual; with `squeeze`, the channels are scaled."""
    width, y = n.channels[x] * expand, x
    if expand > 1:
        y = activate(n.normalize(n.convolve(y, width)))
    y = activate(n.normalize(n.convolve(y, width, size, stride, groups=width)))
    if squeeze:
        scale = n.swish(n.convolve(n.same(f"GlobalAveragePool({y})", y), squeeze, bias=True))
        scale = n.convolve(scale, width, bias=True)
        y = n.same(f"Mul({n.same(f'Sigmoid({scale})', scale)}, {y})", y)
    y = n.normalize(n.convolve(y, outputs))
    return n.same(f"Add({x}, {y})", y) if stride == 1 and n.channels[x] == outputs else y


def mobilenet_v2():
    n = Network("mobilenet_v2")
    x = n.clip(n.normalize(n.convolve("image", 32, 3, 2)))
    for expand, outputs, blocks, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                            (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(blocks):
            x = invert(n, x, expand, outputs, 3, 1 if block else stride, n.clip)
    n.classify(n.clip(n.normalize(n.convolve(x, 1280))))


def efficientnet_b0():
    n = Network("efficientnet_b0")
    x = n.swish(n.normalize(n.convolve("image", 32, 3, 2)))
    for expand, outputs, blocks, size, stride in [(1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2),
                                                  (6, 80, 3, 3, 2), (6, 112, 3, 5, 1), (6, 192, 4, 5, 2),
                                                  (6, 320, 1, 3, 1)]:
        for block in range(blocks):
            x = invert(n, x, expand, outputs, size, 1 if block else stride, n.swish, n.channels[x] // 4)
    n.classify(n.swish(n.normalize(n.convolve(x, 1280))))


def zfnet512():
    n, x = Network("zfnet512"), "image"
    for outputs, size in [(96, 7), (256, 5)]:
        x = n.relu(n.convolve(x, outputs, size, 2, bias=True))
        x = n.pool("Max", n.same(f"LRN({x}) {{size=5, alpha=0.0001, beta=0.75, bias=1.0}}", x), 3, 2)
    for outputs in [512, 1024, 512]:
        x = n.relu(n.convolve(x, outputs, 3, bias=True))
    n.classify(n.pool("Max", x, 3, 2), softmax=True)


if len(sys.argv) not in (2, 3, 4) or sys.argv[1] not in ("resnet50", "densenet121", "mobilenet_v2", "efficientnet_b0", "zfnet512"):
    sys.exit(__doc__)
globals()[sys.argv[1]]()
