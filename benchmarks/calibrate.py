# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shapes by which the model of schedules is calibrated.

    benchmarks/calibrate.py shapes       writes benchmarks/calibration/*.txt, from a seed
"""

import argparse
import pathlib
import random

from shapes import draw

FOLDER = pathlib.Path(__file__).parent / "calibration"

#: Shapes of published networks, and those of docs/benchmarks/h200-cliffs.md that were slow.
CHOSEN = {
    "half": ["4096x192x4096:f16", "4096x96x4096:f16", "4096x224x4096:f16", "5000x96x320:bf16", "3x4096x11008:bf16:NT",
             "16x4096x11008:bf16:NT", "1x4096x4096:f16", "64x7168x4096:bf16", "128x7168x2048:bf16", "512x512x512:f16",
             "1000x1000x1000:bf16", "1000x1000x1000:f16:TT", "640x640x640:bf16", "77x768x768:f16", "333x1000x2048:bf16",
             "64x64x65536:bf16", "256x256x32768:bf16", "96x96x100000:bf16", "192x80x1848:f16", "197x768x3072:f16:NT",
             "2048x1600x1600:f16", "1536x4608x1536:f16", "128x4096x4096:bf16:TT", "32x50257x768:bf16"],
    "bytes": ["128x4096x4096:i8", "16x4096x4096:i8", "32x4096x4096:i8", "16x4096x4096:i8:NT", "128x4096x4096:i8:NT",
              "1024x1024x1024:i8", "1000x1000x1000:i8", "128x4096x4096:f8E4M3FN", "16x4096x4096:f8E4M3FN:NT",
              "128x7168x2048:f8E4M3FN:NT", "1000x1000x1000:f8E4M3FN", "1024x1024x1024:f8E4M3FN:NT",
              "2048x2048x2048:i8:NT", "80x192x460:f8E4M3FN:NT"],
    "tf32": ["16x4096x4096:f32", "128x4096x4096:f32", "1024x1024x1024:f32", "2048x1024x8200:f32", "1000x1000x1000:f32"],
    "double": ["128x4096x4096:f64", "512x512x16384:f64", "1000x1000x1000:f64", "1024x1024x1024:f64"],
    "batched": ["batch:32x512x512x64:f16", "batch:192x197x197x64:f16:NT", "batch:192x197x64x197:f16",
                "batch:128x256x64x256:f16", "batch:16x512x512x512:f16", "batch:64x100x100x100:f16",
                "batch:512x128x128x128:f16", "batch:64x128x512x512:bf16:NT"],
    "convolutions": ["conv:32x56x56x64x64x3x3:f16", "conv:32x28x28x128x128x3x3:f16", "conv:32x14x14x256x256x3x3:f16",
                     "conv:32x7x7x512x512x3x3:f16", "conv:1x56x56x64x64x3x3:f16", "conv:1x28x28x128x128x3x3:f16",
                     "conv:1x14x14x256x256x3x3:f16", "conv:1x7x7x512x512x3x3:f16", "conv:16x28x28x30x50x3x3:f16",
                     "conv:32x28x28x96x160x3x3:f16"],
}
#: How many are drawn of each, and the types.
DRAWN = {"half": (60, ("f16", "bf16")), "bytes": (36, ("i8", "f8E4M3FN")), "tf32": (20, ("f32",)),
         "double": (14, ("f64",)), "batched": (18, ("f16", "bf16", "i8", "f8E4M3FN")), "convolutions": (14, ("f16", "bf16"))}
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1, "f8E4M3FN": 1}
#: About a millisecond at most, and little memory.
MOST_OPERATIONS = {"f64": 8e9, "f32": 4e10, "f16": 1.5e11, "bf16": 1.5e11, "i8": 1.5e11, "f8E4M3FN": 1.5e11}
LEAST_OPERATIONS, MOST_BYTES = 2e7, 48 << 20


def draw_matmul(generator, kind, types):
    """Small M, long K, and all else, by turns."""
    m, n, k = draw(generator, 16, 6000), draw(generator, 16, 6000), draw(generator, 32, 6000)
    form = generator.randrange(4)
    if form == 0:
        m = generator.choice((1, 2, 4, 7, 8, 16, 24, 32, 48, 64, 100, 128))
        n, k = draw(generator, 1000, 12000), draw(generator, 1000, 12000)
    elif form == 1:
        m, n, k = draw(generator, 16, 512), draw(generator, 16, 512), draw(generator, 4000, 60000)
    return 1, m, n, k


def draw_batch(generator, kind, types):
    return draw(generator, 2, 300), *(draw(generator, 16, 512) for _ in range(3))


def draw_shape(generator, kind, types):
    type = generator.choice(types)
    layout = generator.choice(("NN", "NN", "NT", "TN", "TT"))
    if kind == "convolutions":
        window, size = generator.choice((1, 3, 3, 5)), generator.randint(7, 56)
        batch, channels, filters = generator.choice((1, 2, 8, 32)), draw(generator, 16, 512), draw(generator, 16, 512)
        operations = 2 * batch * size * size * channels * filters * window * window
        count = batch * size * size * (channels + filters) + channels * filters * window * window
        text = f"conv:{batch}x{size}x{size}x{channels}x{filters}x{window}x{window}:{type}"
    else:
        batch, m, n, k = (draw_batch if kind == "batched" else draw_matmul)(generator, kind, types)
        operations, count = 2 * batch * m * n * k, batch * (m * k + k * n)
        count += batch * m * n * (4 if type == "i8" else 2 if BYTES[type] == 1 else BYTES[type]) / BYTES[type]
        text = (f"batch:{batch}x" if kind == "batched" else "") + f"{m}x{n}x{k}:{type}"
        text += f":{layout}" if layout != "NN" else ""
    fits = LEAST_OPERATIONS <= operations <= MOST_OPERATIONS[type] and count * BYTES[type] <= MOST_BYTES
    return text if fits else None


def write_shapes(seed):
    FOLDER.mkdir(exist_ok=True)
    for kind, (number, types) in DRAWN.items():
        generator = random.Random(f"{seed} {kind}")
        texts = dict.fromkeys(CHOSEN[kind])
        while len(texts) < len(CHOSEN[kind]) + number:
            if text := draw_shape(generator, kind, types):
                texts[text] = None
        lines = list(texts)
        generator.shuffle(lines)
        (FOLDER / f"{kind}.txt").write_text("# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
                                            f"# Written by benchmarks/calibrate.py shapes --seed={seed}.\n"
                                            + "".join(f"{line}\n" for line in lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    shapes = commands.add_parser("shapes")
    shapes.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.command == "shapes":
        write_shapes(arguments.seed)


if __name__ == "__main__":
    main()
