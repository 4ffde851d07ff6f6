# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shapes of cliffs.py: those that published networks and earlier measurements have, sizes at which
schedules change, and shapes that are drawn at random from a seed."""

import itertools
import random

import cases
from cases import attention, batched, conv, gemm, layer_norm, reduction, softmax, transpose, weights

KINDS = ("gemm", "batched", "weights", "conv", "attention", "softmax", "layer_norm", "reduction", "transpose")


def gemms():
    for size in cases.ALIGNED + cases.HARD + cases.OWN + [
            (6144, 1536, 2304), (4096, 7168, 2048), (64, 7168, 16384), (128, 7168, 2048), (4096, 2112, 7168),
            (640, 640, 640), (2880, 2880, 2880), (5000, 96, 320), (333, 1000, 2048), (3001, 2999, 1777),
            (1, 11008, 4096), (77, 1, 4095)]:
        yield gemm("bf16", *size)
    for size in [(512, 512, 512), (2048, 2048, 2048), (4096, 4096, 4096), (1000, 1000, 1000), (2560, 5120, 2560),
                 (16, 4096, 4096), (777, 1555, 3111)]:
        yield gemm("f16", *size)
    for layout in ("NT", "TN", "TT"):
        for size in [(4096, 4096, 4096), (1024, 1024, 1024), (3072, 768, 4096), (1000, 1000, 1000)]:
            yield gemm("f16", *size, layout=layout)
        for size in [(128, 4096, 4096), (2047, 2049, 2051)]:
            yield gemm("bf16", *size, layout=layout)
    # A few tokens by the weights of a network.
    for m in (1, 2, 3, 4, 5, 8, 13, 16):
        yield gemm("bf16", m, 4096, 11008, layout="NT")
    for m in (1, 4, 8, 16):
        yield gemm("f16", m, 14336, 4096)
    # Output layers over a vocabulary, whose rows begin anywhere or are long.
    for m, n, k, layout in [(32, 50257, 768, "NN"), (32, 50257, 768, "NT"), (512, 50257, 768, "NN"),
                            (128, 128256, 4096, "NT"), (16, 151936, 2048, "NT"), (1, 32000, 4096, "NT"),
                            (256, 32000, 4096, "NN")]:
        yield gemm("bf16", m, n, k, layout=layout)
    for size in [(64, 64, 65536), (128, 256, 131072), (256, 256, 32768), (96, 96, 100000)]:
        yield gemm("bf16", *size)
    # Widths between the powers of two.
    for size in [(4096, 96, 4096), (4096, 160, 4096), (4096, 192, 4096), (4096, 224, 4096), (8192, 320, 1280),
                 (2048, 1600, 1600), (1536, 4608, 1536)]:
        yield gemm("f16", *size)
    for size in [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (2560, 5120, 2560),
                 (128, 4096, 4096), (16, 4096, 4096), (1000, 1000, 1000), (2048, 1024, 8200)]:
        yield gemm("tf32", *size)
    for size in [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (128, 4096, 4096), (1000, 1000, 1000)]:
        yield gemm("f32", *size)
    for size in [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (1000, 1000, 1000), (128, 4096, 4096),
                 (512, 512, 16384)]:
        yield gemm("f64", *size)
    for size in [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 11008, 4096),
                 (128, 4096, 4096), (32, 4096, 4096), (16, 4096, 4096), (1000, 1000, 1000)]:
        yield gemm("i8", *size)
    for size in [(4096, 4096, 4096), (128, 4096, 4096), (16, 4096, 4096)]:
        yield gemm("i8", *size, layout="NT")
    for size in [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 11008, 4096),
                 (128, 4096, 4096), (16, 4096, 4096), (1000, 1000, 1000), (128, 7168, 2048), (4096, 2112, 7168)]:
        yield gemm("f8", *size)
    for size in [(4096, 4096, 4096), (8192, 8192, 8192), (128, 7168, 2048)]:
        yield gemm("f8fast", *size)


def batches():
    for size in [(32, 512, 512, 64), (128, 1024, 1024, 64), (128, 1024, 64, 1024), (16, 1024, 1024, 1024),
                 (4096, 16, 16, 16), (512, 128, 128, 128), (64, 100, 100, 100), (1024, 32, 32, 32),
                 (3, 1000, 1000, 1000), (300, 128, 128, 512), (256, 1, 128, 4096)]:
        yield batched("f16", *size)
    yield batched("f16", 7, 33, 65, 129, layout="TN")
    yield batched("f16", 192, 197, 197, 64, layout="NT")
    yield batched("f16", 192, 197, 64, 197)
    yield batched("bf16", 8, 2048, 2048, 128, layout="TT")
    yield batched("bf16", 64, 128, 2048, 512, layout="NT")
    yield batched("tf32", 32, 256, 256, 256)
    yield batched("f32", 100, 64, 64, 64)
    yield batched("f64", 64, 128, 128, 128)


def narrow_weights():
    """Layers of a network of 7 billion parameters, for one token up to a block of them."""
    for bits in (8, 4):
        for m in (1, 2, 4, 8, 16, 32, 64, 128):
            yield weights("bf16", bits, m, 4096, 11008)
        for m in (1, 16):
            yield weights("bf16", bits, m, 14336, 4096)
            yield weights("f16", bits, m, 4096, 4096, group=32)
        yield weights("f16", bits, 8, 11008, 4096, group=64, zero=True)
        yield weights("f16", bits, 1, 11008, 4096, group=4096)


def convolutions():
    # As in ResNet, in batches of 32.
    for size in [(56, 64, 64, 3), (28, 128, 128, 3), (14, 256, 256, 3), (7, 512, 512, 3), (56, 64, 256, 1),
                 (28, 256, 512, 1, 2), (56, 128, 128, 3, 2), (14, 1024, 256, 1), (224, 3, 64, 7, 2)]:
        yield conv("f16", 32, *size)
    for size in [(112, 32, 64, 3), (28, 96, 160, 3), (35, 192, 96, 5), (35, 48, 64, 5), (17, 768, 192, 1),
                 (56, 64, 128, 5), (8, 1280, 320, 1), (17, 128, 192, 7)]:
        yield conv("f16", 32, *size)
    yield conv("f16", 16, 112, 24, 72, 3)
    # First layers.
    yield conv("f16", 32, 224, 3, 32, 3, 2)
    yield conv("f16", 32, 224, 3, 64, 3)
    yield conv("f16", 1, 224, 3, 64, 7, 2)
    yield conv("bf16", 32, 224, 4, 96, 7, 2)
    # One image, and deep layers.
    for size in [(56, 64, 64, 3), (28, 128, 128, 3), (14, 256, 256, 3), (7, 512, 512, 3), (7, 512, 2048, 1),
                 (14, 1024, 256, 1), (7, 2048, 512, 1)]:
        yield conv("f16", 1, *size)
    for size in [(28, 30, 50, 3), (28, 17, 33, 3), (14, 100, 200, 1), (40, 5, 10, 5)]:
        yield conv("f16", 16, *size)
    for batch, size, channels, window, stride in [(32, 112, 32, 3, 1), (32, 56, 144, 3, 1), (32, 14, 512, 3, 1),
                                                  (32, 7, 960, 5, 1), (32, 112, 96, 3, 2), (1, 14, 512, 3, 1)]:
        yield conv("f16", batch, size, channels, channels, window, stride, groups=channels)
    for size, channels, window, stride, groups in [(56, 128, 3, 1, 32), (28, 256, 3, 1, 32), (14, 512, 3, 2, 32),
                                                   (28, 240, 1, 1, 3)]:
        yield conv("f16", 32, size, channels, channels, window, stride, groups=groups)
    for batch, *size in [(32, 56, 64, 64, 3), (32, 14, 256, 256, 3), (1, 28, 128, 128, 3), (32, 56, 64, 256, 1),
                         (32, 224, 3, 64, 7, 2)]:
        yield conv("f16", batch, *size, layout="NCHW")
    yield conv("f16", 32, 56, 144, 144, 3, groups=144, layout="NCHW")
    yield conv("f16", 32, 28, 256, 256, 3, groups=32, layout="NCHW")
    yield conv("bf16", 32, 28, 128, 128, 3)
    yield conv("tf32", 32, 28, 128, 128, 3)
    yield conv("f32", 8, 28, 128, 128, 3)


def attentions():
    # With fewer heads for more keys.
    for (keys, heads), size in itertools.product([(512, 96), (2048, 32), (4096, 16)], [64, 96, 128, 192, 256]):
        for causal in (False, True):
            yield attention("bf16", heads, keys, keys, size, causal)
    for size in (64, 128, 256):
        yield attention("bf16", 8, 16384, 16384, size, causal=True)
    yield attention("f16", 8, 16384, 16384, 128)
    for heads, queries, keys, size in [(64, 1024, 1024, 64), (24, 1024, 1024, 96), (64, 77, 77, 64),
                                       (192, 197, 197, 64), (16, 3000, 3000, 128), (8, 100, 77, 64),
                                       (16, 512, 4096, 128)]:
        yield attention("f16", heads, queries, keys, size)
    # Decode: a few queries for many keys.
    for heads, queries, keys, size in [(64, 1, 4096, 128), (32, 1, 16384, 128), (128, 1, 1024, 64), (256, 1, 2048, 128),
                                       (32, 4, 8192, 128), (32, 16, 8192, 128)]:
        yield attention("bf16", heads, queries, keys, size)
    for heads, key_heads, queries, keys, size, causal in [(32, 8, 2048, 2048, 128, True), (64, 8, 1024, 1024, 128, False),
                                                          (32, 8, 1, 8192, 128, False), (64, 8, 1, 16384, 128, False)]:
        yield attention("bf16", heads, queries, keys, size, causal, key_heads)


def rows():
    for kind, *size in [("f16", 4096, 4096), ("f16", 65536, 128), ("bf16", 128, 50257), ("f32", 8192, 1000),
                        ("f32", 16, 131072), ("f16", 49152, 197)]:
        yield softmax(kind, *size)
    for kind, *size in [("f16", 8192, 768), ("bf16", 4096, 4096), ("f32", 65536, 64), ("bf16", 1024, 12288),
                        ("f32", 333, 1000), ("f16", 6304, 768)]:
        yield layer_norm(kind, *size)
    for kind, *size in [("f32", 4096, 4096, 1), ("f32", 4096, 4096, 0), ("f16", 65536, 256, 1), ("bf16", 65536, 256, 0),
                        ("f32", 16, 1000000, 1), ("f32", 1000000, 16, 0), ("f64", 2048, 2048, 1)]:
        yield reduction(kind, *size)
    for kind, shape, permutation in [("f32", (4096, 4096), (1, 0)), ("f16", (8192, 8192), (1, 0)),
                                     ("i8", (8192, 8192), (1, 0)), ("f16", (4097, 4095), (1, 0)),
                                     ("f16", (64, 197, 768), (0, 2, 1)), ("f32", (32, 56, 56, 64), (0, 3, 1, 2)),
                                     ("bf16", (32, 64, 56, 56), (0, 2, 3, 1)), ("bf16", (16, 1024, 16, 64), (0, 2, 1, 3))]:
        yield transpose(kind, shape, permutation)


def draw(generator, low, high):
    """A size between both, of any magnitude: rounded to a multiple of 64 or 8, or left as it is."""
    size = low * (high / low) ** generator.random()
    step = generator.choice((64, 8, 1))
    return max(round(size / step) * step, low)


def draw_gemm(generator):
    kind = generator.choice(("f16", "bf16", "f16", "bf16", "tf32", "i8", "f8", "f64"))
    m = draw(generator, 1, 8192)
    n, k = draw(generator, 16, 8192), draw(generator, 16, 8192)
    return gemm(kind, m, n, k, layout="NT" if kind == "f8" else generator.choice(("NN", "NT", "TN", "TT")))


def draw_batched(generator):
    sizes = [draw(generator, 16, 512) for _ in range(3)]
    return batched(generator.choice(("f16", "bf16")), draw(generator, 2, 512), *sizes,
                   layout=generator.choice(("NN", "NT", "TN")))


def draw_conv(generator):
    window = generator.choice((1, 3, 3, 5, 7))
    return conv(generator.choice(("f16", "bf16")), draw(generator, 1, 32), generator.randint(7, 64),
                draw(generator, 8, 512), draw(generator, 8, 512), window, generator.choice((1, 1, 1, 2)),
                layout=generator.choice(("NHWC", "NHWC", "NHWC", "NCHW")))


def draw_attention(generator):
    size = generator.choice((64, 96, 128, 192, 256))
    keys, heads = draw(generator, 64, 4096), draw(generator, 4, 64)
    causal = generator.random() < 0.4
    queries = keys if causal or generator.random() < 0.5 else draw(generator, 1, 4096)
    return attention(generator.choice(("f16", "bf16")), heads, queries, keys, size, causal)


def draw_rows(generator):
    make = generator.choice((softmax, layer_norm, reduction))
    more = (generator.randrange(2),) if make is reduction else ()
    return make(generator.choice(("f16", "bf16", "f32")), draw(generator, 16, 16384), draw(generator, 16, 16384), *more)


#: How often each is drawn.
DRAWS = [draw_gemm] * 26 + [draw_batched] * 6 + [draw_conv] * 8 + [draw_attention] * 5 + [draw_rows] * 5
#: A drawn shape must fit: operations, and bytes of the operands and the result.
MOST_OPERATIONS, MOST_BYTES = 1e12, 1 << 30


def draw_cases(seed, count):
    """So many cases, the same ones for the same seed."""
    generator = random.Random(seed)
    drawn = []
    while len(drawn) < count:
        case = DRAWS[len(drawn) % len(DRAWS)](generator)
        limit = MOST_OPERATIONS / (20 if case.type == "f64" else 1)
        if case.flops <= limit and case.bytes <= MOST_BYTES:
            case.more["drawn"] = True
            drawn.append(case)
    return drawn


def tiny():
    """One case of each form, small enough for a test on the CPU."""
    yield gemm("f32", 33, 17, 40)
    yield gemm("f32", 16, 24, 32, layout="TT")
    yield gemm("i8", 20, 16, 32)
    yield gemm("f64", 5, 16, 9, layout="NT")
    yield gemm("bf16", 16, 24, 32)
    yield batched("f32", 3, 5, 6, 7, layout="TN")
    yield weights("f16", 8, 3, 16, 64, group=32)
    yield weights("bf16", 4, 1, 24, 64, group=16, zero=True)
    yield conv("f32", 2, 9, 4, 6, 3, 2)
    yield conv("f32", 1, 8, 6, 6, 3, groups=6)
    yield conv("f32", 1, 8, 8, 12, 3, groups=4)
    yield conv("f32", 1, 8, 6, 6, 3, groups=6, layout="NCHW")
    yield conv("f32", 1, 8, 8, 12, 1, groups=4, layout="NCHW")
    yield conv("f32", 1, 8, 5, 4, 3, layout="NCHW")
    yield attention("f16", 4, 20, 20, 16, causal=True)
    yield attention("f16", 4, 1, 30, 16, key_heads=2)
    yield softmax("f32", 7, 33)
    yield layer_norm("f16", 7, 48)
    yield reduction("f32", 9, 50, 0)
    yield reduction("f32", 9, 50, 1)
    yield transpose("f16", (5, 6, 7), (0, 2, 1))


def all_cases(seed, count):
    """The chosen cases and `count` drawn ones, no two of the same name."""
    chosen = itertools.chain(gemms(), batches(), narrow_weights(), convolutions(), attentions(), rows(), draw_cases(seed, count))
    return list({case.name: case for case in chosen}.values())
