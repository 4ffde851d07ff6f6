#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names the digits of images, by an ONNX model.

  python classify.py three.pgm seven.pgm      the three most probable labels of each image
  python classify.py --target=cuda ...        on another target
  python classify.py --accuracy               on the test set (needs scikit-learn)

An image has white digits on black. PGM files (P2, P5) are read as they are, others by Pillow. Images
of more than 8x8 pixels are averaged. The model's batch is open: all images are one batch.
"""

import argparse
import pathlib
import sys

import numpy as np
import tessera.onnx

MODEL = pathlib.Path(__file__).parent / "digits.onnx"
LABELS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def read_image(path):
    """The pixels of an image, from 0 to 255."""
    data = pathlib.Path(path).read_bytes()
    if data[:2] in (b"P2", b"P5"):
        words = data.split(maxsplit=4)
        width, height, white = map(int, words[1:4])
        # One byte separates the numbers from the pixels of P5.
        pixels = (np.array(words[4].split(), int) if words[0] == b"P2"
                  else np.frombuffer(data[len(data) - width * height:], np.uint8))
        return pixels.reshape(height, width) * (255 / white)
    from PIL import Image

    return np.asarray(Image.open(path).convert("L"), float)


def shrink(pixels):
    """The means of 8x8 blocks."""
    if pixels.shape[0] % 8 or pixels.shape[1] % 8:
        sys.exit(f"the image has {pixels.shape[1]}x{pixels.shape[0]} pixels; both must be multiples of 8")
    rows, columns = (size // 8 for size in pixels.shape)
    return pixels.reshape(8, rows, 8, columns).mean((1, 3)).round().astype(np.uint8)


def print_accuracy(model):
    from sklearn.datasets import load_digits

    data = load_digits()
    # Those that train.py leaves out.
    pixels = np.round(data.images[::5] * (255 / 16)).astype(np.uint8)
    found = model(pixels[:, None]).argmax(1)
    print(f"accuracy: {(found == data.target[::5]).mean():.3f} of {len(pixels)} images")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", nargs="*")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--accuracy", action="store_true")
    options = parser.parse_args()
    if not options.images and not options.accuracy:
        parser.error("name an image, or pass --accuracy")
    model = tessera.onnx.load(MODEL, target=options.target)
    print(model)
    if options.accuracy:
        print_accuracy(model)
    if options.images:
        batch = np.stack([shrink(read_image(path))[None] for path in options.images])
        for path, scores in zip(options.images, model(image=batch)):
            best = np.argsort(-scores)[:3]
            print(f"{path}: " + ", ".join(f"{LABELS[i]} {100 * scores[i]:.1f} %" for i in best))


if __name__ == "__main__":
    main()
