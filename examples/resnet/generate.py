#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the forward pass and loss of a residual network of any size as MLIR.

Basic blocks of two 3x3 convolutions, batch norm by the microbatch's own mean and
variance, a rectifier; stages of blocks, each of half the height and width and
twice the channels of the one before.
"""

import argparse
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from linalg_text import FLOATS, SMALL_TYPES, Function, float_literal, positive  # noqa: E402
from output_file import write_output  # noqa: E402

NORM_EPSILON = 1e-5
COLORS = 3


class ResNet:
    """One function: image [B, size, size, 3] and labels [B] to the mean cross entropy.

    Or, to infer, `image` alone to the logits [B, classes].

    With a type of 16 bits parameters, norms, sums of blocks and the loss are f32; what
    convolutions and products take and give is rounded.
    """

    def __init__(self, config):
        self.c = config
        element = "f32" if config.type in SMALL_TYPES else config.type
        self.f = Function("resnet", element, config.type)

    def build(self):
        """Returns the finished module as text."""
        c, f = self.c, self.f
        image = f.batch("image", (c.microbatch_size, c.size, c.size, COLORS))
        labels = None if c.logits else f.batch("labels", (c.microbatch_size,), "i32")
        blocks = [(f"s{stage}b{block}", c.width << stage, 2 if stage and not block else 1)
                  for stage in range(c.stages) for block in range(c.blocks)]
        self._parameters(blocks)

        f.comment("Stem")
        x = self._relu("stem_active", self._norm("stem", self._convolution("stem", image)))
        for name, _, stride in blocks:
            x = self._block(name, x, stride)
        f.comment("Head")
        pixels = x.shape[1] * x.shape[2]
        pooled = f.divide_by("pooled", f.reduce("pool_sum", x, "sum", [1, 2]), pixels)
        logits = f.linear("logits", pooled, self.p["head.weight"], self.p["head.bias"])
        if c.logits:
            return f.text(None, self._header(), {"logits": f.extended(logits)})
        f.comment("Mean cross entropy")
        loss = f.cross_entropy(logits, labels)
        metrics = {}
        if c.accuracy:
            f.comment("Share of labels that are the most probable classes")
            metrics["accuracy"] = f.accuracy(labels)
        return f.text(loss, self._header(), metrics)

    def _parameters(self, blocks):
        c, f = self.c, self.f
        self.p = {}

        def parameter(name, shape, init):
            self.p[name] = f.parameter(name, shape, init)

        def convolution(name, window, inputs, outputs):
            # The deviation that keeps the variance through a rectifier.
            deviation = float_literal(math.sqrt(2.0 / (window * window * inputs)), "f64")
            parameter(f"{name}.weight", (window, window, inputs, outputs), f"normal(0.0, {deviation})")
            parameter(f"{name}.norm.weight", (outputs,), "ones")
            parameter(f"{name}.norm.bias", (outputs,), "zeros")

        convolution("stem", 3, COLORS, c.width)
        channels = c.width
        for name, width, stride in blocks:
            convolution(f"{name}.first", 3, channels, width)
            convolution(f"{name}.second", 3, width, width)
            if stride > 1:
                convolution(f"{name}.skip", 1, channels, width)
            channels = width
        bound = float_literal(1.0 / math.sqrt(channels), "f64")
        parameter("head.weight", (channels, c.classes), f"uniform(-{bound}, {bound})")
        parameter("head.bias", (c.classes,), "zeros")

    def _block(self, name, x, stride):
        f = self.f
        f.comment(f"Block {name}")

        def normed(part, x, stride):
            stem = f"{name}_{part}"
            return self._norm(stem, self._convolution(stem, x, stride))

        inner = self._relu(f"{name}_active", normed("first", x, stride))
        inner = normed("second", inner, 1)
        skipped = normed("skip", x, stride) if stride > 1 else x
        return self._relu(f"{name}_out", f.add(f"{name}_sum", inner, skipped))

    def _convolution(self, stem, x, stride=1):
        weight = self.p[stem.replace("_", ".") + ".weight"]
        return self.f.convolution(stem + "_convolved", x, weight, stride)

    def _relu(self, name, x):
        return self.f.activation(name, x, "relu")

    def _norm(self, stem, x):
        """Batch norm in its training form: mean and variance are those of the microbatch."""
        f = self.f
        x = f.extended(x)
        count = math.prod(x.shape[:3])
        mean = f.divide_by(stem + "_mean", f.reduce(stem + "_mean_sum", x, "sum", [0, 1, 2]), count)
        centered = f.generic(stem + "_centered", {"in": x, "mean": (mean, [3])}, x.shape,
                             lambda b, x, mean: b.op("centered", "arith.subf", x, mean))
        squares = f.reduce(stem + "_square_sum", f.square(stem + "_square", centered), "sum", [0, 1, 2])
        variance = f.divide_by(stem + "_variance", squares, count)

        def inverse(b, variance):
            stable = b.op("stable", "arith.addf", variance, b.constant(NORM_EPSILON))
            return b.op("inverse", "math.rsqrt", stable)

        scale = f.generic(stem + "_scale", {"variance": variance}, variance.shape, inverse)

        def apply(b, x, scale, weight, bias):
            normed = b.op("normed", "arith.mulf", x, scale)
            return b.op("shifted", "arith.addf", b.op("weighted", "arith.mulf", normed, weight), bias)

        name = stem.replace("_", ".") + ".norm"
        per_channel = {"scale": (scale, [3]), "weight": (self.p[name + ".weight"], [3]),
                       "bias": (self.p[name + ".bias"], [3])}
        return f.generic(stem + "_normed", {"in": centered, **per_channel}, x.shape, apply)

    def _header(self):
        c = self.c
        return [
            "A residual network: " + ("logits" if c.logits else "forward and mean cross entropy")
            + " of one microbatch.",
            f"stages {c.stages}, blocks {c.blocks}, width {c.width}, classes {c.classes}, {c.type}",
            f"a microbatch has {c.microbatch_size} images of {c.size} x {c.size}",
            f"{self.f.parameter_count} parameters",
        ]


def parse_arguments(arguments):
    """The configuration, checked; exits with a message where no such model exists."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)

    def size(option, default, text):
        parser.add_argument(option, type=positive, default=default, metavar="N",
                            help=f"{text} (default: {default})")

    size("--stages", 3, "stages, each of twice the channels of the one before")
    size("--blocks", 3, "blocks in a stage")
    size("--width", 16, "channels of the first stage")
    size("--size", 32, "height and width of an image")
    size("--classes", 10, "different labels")
    size("--microbatch-size", 16, "images in a microbatch")
    parser.add_argument("--type", choices=FLOATS, default="f32",
                        help="float type; of bf16 and f16 parameters are f32, and so is everything "
                             "but convolutions and the last product (default: %(default)s)")
    parser.add_argument("--accuracy", action="store_true",
                        help="return the metric 'accuracy', the share of labels that are the most "
                        "probable classes")
    parser.add_argument("--logits", action="store_true",
                        help="return the logits instead of the loss, to infer: there are no labels")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, not to standard output")
    config = parser.parse_args(arguments)
    if config.logits and config.accuracy:
        parser.error("--accuracy compares logits with labels, which --logits does without")
    if config.size % (1 << (config.stages - 1)):
        parser.error(f"--size {config.size} is not divisible by {1 << (config.stages - 1)}, "
                     f"which it is halved to by --stages {config.stages}")
    return config


def build(config):
    """The model of `config` as MLIR text."""
    return ResNet(config).build()


def main():
    config = parse_arguments(sys.argv[1:])
    write_output(config.output, build(config).encode())


if __name__ == "__main__":
    main()
