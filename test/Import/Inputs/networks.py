#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a network as text for write-onnx.py: networks.py NETWORK [TYPE [BATCH]]; the networks are the functions without arguments.

TYPE is f32 or f16, by default f32, and BATCH by default 1.
The layers are those of the papers, with the sizes of the published models; weights repeat a few
numbers. Batch normalization follows each convolution as an operator of its own. Networks of which three
layers are at the end (alexnet, caffenet, rcnn, vgg19, zfnet512) have one after a mean instead.
"""

import inspect
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

    def local(self, x):
        return self.same(f"LRN({x}) {{size=5, alpha=0.0001, beta=0.75, bias=1.0}}", x)

    def join(self, *parts):
        result = self.add(f"Concat({', '.join(parts)}) {{axis=1}}")
        self.channels[result] = sum(self.channels[part] for part in parts)
        return result

    def shuffle(self, x, groups, size):
        """Exchanges groups of channels and channels of a group, of a square image."""
        wide, flat = (self.add(f"Constant() {{value=i64[{len(sizes)}]:[{', '.join(map(str, sizes))}]}}") for sizes in (
            (BATCH, groups, self.channels[x] // groups, size, size), (BATCH, self.channels[x], size, size)))
        turned = self.add(f"Transpose({self.add(f'Reshape({x}, {wide})')}) {{perm=[0, 2, 1, 3, 4]}}")
        return self.same(f"Reshape({turned}, {flat})", x)

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
        x = n.pool("Max", n.local(x), 3, 2)
    for outputs in [512, 1024, 512]:
        x = n.relu(n.convolve(x, outputs, 3, bias=True))
    n.classify(n.pool("Max", x, 3, 2), softmax=True)


def follow_alexnet(name, pools_first, softmax=True):
    n, x = Network(name), "image"
    for outputs, size, stride, groups in [(96, 11, 4, 1), (256, 5, 1, 2)]:
        x = n.relu(n.convolve(x, outputs, size, stride, groups, bias=True))
        x = n.local(n.pool("Max", x, 3, 2)) if pools_first else n.pool("Max", n.local(x), 3, 2)
    for outputs, groups in [(384, 1), (384, 2), (256, 2)]:
        x = n.relu(n.convolve(x, outputs, 3, 1, groups, bias=True))
    n.classify(n.pool("Max", x, 3, 2), softmax)


def alexnet():
    follow_alexnet("alexnet", pools_first=False)


def caffenet():
    follow_alexnet("caffenet", pools_first=True)


def rcnn():
    follow_alexnet("rcnn", pools_first=True, softmax=False)


def vgg19():
    n, x = Network("vgg19"), "image"
    for outputs, layers in [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]:
        for _ in range(layers):
            x = n.relu(n.convolve(x, outputs, 3, bias=True))
        x = n.pool("Max", x, 2, 2)
    n.classify(x)


def resnet18():
    n = Network("resnet18")
    x = n.pool("Max", n.relu(n.normalize(n.convolve("image", 64, 7, 2))), 3, 2, 1)
    for stage in range(4):
        for block in range(2):
            width, stride = 64 << stage, 2 if stage and not block else 1
            y = n.relu(n.normalize(n.convolve(x, width, 3, stride)))
            y = n.normalize(n.convolve(y, width, 3))
            shortcut = n.normalize(n.convolve(x, width, 1, 2)) if stride == 2 else x
            x = n.relu(n.same(f"Add({y}, {shortcut})", y))
    n.classify(x)


def googlenet():
    n = Network("googlenet")
    layer = lambda x, outputs, size=1, stride=1: n.relu(n.convolve(x, outputs, size, stride, bias=True))
    x = n.local(n.pool("Max", layer("image", 64, 7, 2), 3, 2, 1))
    x = n.pool("Max", n.local(layer(layer(x, 64), 192, 3)), 3, 2, 1)
    for number, (one, less3, three, less5, five, pooled) in enumerate([
            (64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), (192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64),
            (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128),
            (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)]):
        if number in (2, 7):
            x = n.pool("Max", x, 3, 2, 1)
        x = n.join(layer(x, one), layer(layer(x, less3), three, 3), layer(layer(x, less5), five, 5),
                   layer(n.pool("Max", x, 3, 1, 1), pooled))
    n.classify(x, softmax=True)


def inception_v2():
    n = Network("inception_v2")
    layer = lambda x, outputs, size=1, stride=1: n.relu(n.normalize(n.convolve(x, outputs, size, stride)))
    x = n.pool("Max", layer("image", 64, 7, 2), 3, 2, 1)
    x = n.pool("Max", layer(layer(x, 64), 192, 3), 3, 2, 1)
    for one, less3, three, less5, five, pooled in [
            (64, 64, 64, 64, 96, 32), (64, 64, 96, 64, 96, 64), (0, 128, 160, 64, 96, 0), (224, 64, 96, 96, 128, 128),
            (192, 96, 128, 96, 128, 128), (160, 128, 160, 128, 160, 96), (96, 128, 192, 160, 192, 96),
            (0, 128, 192, 192, 256, 0), (352, 192, 320, 160, 224, 128), (352, 192, 320, 192, 224, 128)]:
        stride = 1 if one else 2
        parts = [layer(layer(x, less3), three, 3, stride), layer(layer(layer(x, less5), five, 3), five, 3, stride)]
        parts.append(layer(n.pool("Average", x, 3, 1, 1), pooled) if one else n.pool("Max", x, 3, 2, 1))
        x = n.join(*([layer(x, one)] if one else []), *parts)
    n.classify(x, softmax=True)


def shufflenet():
    n, size = Network("shufflenet"), 28
    x = n.pool("Max", n.relu(n.normalize(n.convolve("image", 24, 3, 2))), 3, 2, 1)
    for stage, (outputs, blocks) in enumerate([(272, 4), (544, 8), (1088, 4)]):
        for block in range(blocks):
            stride, inputs = 1 if block else 2, n.channels[x]
            y = n.relu(n.normalize(n.convolve(x, outputs // 4, groups=4 if stage or block else 1)))
            y = n.shuffle(y, 4, size if block else 2 * size)
            y = n.normalize(n.convolve(y, outputs // 4, 3, stride, groups=outputs // 4))
            y = n.normalize(n.convolve(y, outputs if block else outputs - inputs, groups=4))
            x = n.relu(n.same(f"Add({x}, {y})", y) if block else n.join(n.pool("Average", x, 3, 2, 1), y))
        size //= 2
    n.classify(x, softmax=True)


def shufflenet_v2():
    n, size = Network("shufflenet_v2"), 28
    layer = lambda x, outputs, size=1, stride=1: n.relu(n.normalize(n.convolve(x, outputs, size, stride)))
    narrow = lambda x, stride: n.normalize(n.convolve(x, n.channels[x], 3, stride, groups=n.channels[x]))
    x = n.pool("Max", layer("image", 24, 3, 2), 3, 2, 1)
    for outputs, blocks in [(116, 4), (232, 8), (464, 4)]:
        half = outputs // 2
        x = n.shuffle(n.join(layer(narrow(x, 2), half), layer(narrow(layer(x, half), 2), half)), 2, size)
        for _ in range(blocks - 1):
            left, right = f"{x}_left", f"{x}_right"
            n.lines.append(f"{left}, {right} = Split({x}) {{axis=1}}")
            n.channels[left] = n.channels[right] = half
            x = n.shuffle(n.join(left, layer(narrow(layer(right, half), 1), half)), 2, size)
        size //= 2
    n.classify(layer(x, 1024))


def efficientnet_lite4():
    n = Network("efficientnet_lite4")
    x = n.clip(n.normalize(n.convolve("image", 32, 3, 2)))
    for expand, outputs, blocks, size, stride in [(1, 24, 1, 3, 1), (6, 32, 4, 3, 2), (6, 56, 4, 5, 2), (6, 112, 6, 3, 2),
                                                  (6, 160, 6, 5, 1), (6, 272, 8, 5, 2), (6, 448, 1, 3, 1)]:
        for block in range(blocks):
            x = invert(n, x, expand, outputs, size, 1 if block else stride, n.clip)
    n.classify(n.clip(n.normalize(n.convolve(x, 1280))), softmax=True)


NETWORKS = {name: build for name, build in globals().items() if inspect.isfunction(build) and not inspect.signature(build).parameters}
if len(sys.argv) not in (2, 3, 4) or sys.argv[1] not in NETWORKS:
    sys.exit(f"{__doc__}\nNetworks: {', '.join(NETWORKS)}")
NETWORKS[sys.argv[1]]()
