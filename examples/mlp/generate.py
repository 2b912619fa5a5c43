#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the forward pass and mean squared error of a multilayer perceptron as MLIR."""

import argparse
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from linalg_text import (ACTIVATIONS, ELEMENT_TYPES, Function, float_literal, positive)  # noqa: E402
from output_file import write_output  # noqa: E402


def build(config):
    """One function: x [batch, in] and y [batch, out] to the mean squared error."""
    f = Function("mlp", config.type)
    widths = config.widths
    value = f.batch("x", (config.microbatch_size, widths[0]))
    target = f.batch("y", (config.microbatch_size, widths[-1]))
    layers = []
    for number, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        bound = float_literal(1.0 / math.sqrt(inputs), "f64")
        init = f"uniform(-{bound}, {bound})"
        layers.append((f.parameter(f"layer{number}.weight", (inputs, outputs), init),
                       f.parameter(f"layer{number}.bias", (outputs,), "zeros")))

    for number, (weight, bias) in enumerate(layers):
        if number > 0 and config.boundaries:
            value = f.boundary(f"l{number}_in", value)
        f.comment(f"Layer {number}")
        value = f.linear(f"l{number}_linear", value, weight, bias)
        if number + 1 < len(layers):
            value = f.activation(f"l{number}_active", value, config.activation)

    f.comment("Mean squared error")
    error = f.generic("error", {"in": value, "target": target}, value.shape,
                      lambda b, x, y: b.op("difference", "arith.subf", x, y))
    squares = f.collapse("error_squares", f.square("error_square", error), [[0, 1]])
    loss = f.divide_by("loss", f.reduce("loss_sum", squares, "sum"), math.prod(value.shape))
    return f.text(loss, [
        "A multilayer perceptron: forward and mean squared error of one microbatch.",
        f"widths {', '.join(map(str, widths))}, {config.activation}, {config.type}",
        f"a microbatch has {config.microbatch_size} rows",
        f"{f.parameter_count} parameters",
    ])


def width_list(text):
    """An argparse type: at least two positive widths with commas between them."""
    widths = [positive(part) for part in text.split(",")]
    if len(widths) < 2:
        raise argparse.ArgumentTypeError(f"expected at least an input and an output width, "
                                         f"found '{text}'")
    return widths


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=width_list, default=[16, 64, 64, 4], metavar="IN,...,OUT",
                        help="width of the input and of each layer's output "
                             "(default: 16,64,64,4, which is three layers)")
    parser.add_argument("--microbatch-size", type=positive, default=32,
                        help="rows in a microbatch (default: %(default)s)")
    parser.add_argument("--type", choices=ELEMENT_TYPES, default="f32",
                        help="float type (default: %(default)s)")
    parser.add_argument("--activation", choices=ACTIVATIONS, default="relu",
                        help="nonlinearity between layers (default: %(default)s)")
    parser.add_argument("--boundaries", action="store_true",
                        help="put a pipe.boundary between layers")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, not to standard output")
    return parser.parse_args(arguments)


def main():
    config = parse_arguments(sys.argv[1:])
    write_output(config.output, build(config).encode())


if __name__ == "__main__":
    main()
