#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a generated model, run by upstream's tools, with the reference.

Options that are not listed go to the generator. Every parameter gets random numbers,
ones and zeros of the initialisers included, so that a forgotten one shows.
"""

import argparse
import importlib.util
import math
import pathlib
import random
import sys

import reference
import run_upstream

TOLERANCE = 1e-10


def load_generator(model):
    path = pathlib.Path(__file__).resolve().parents[2] / "examples" / model / "generate.py"
    spec = importlib.util.spec_from_file_location(f"generate_{model}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def nested(numbers, shape):
    """The flat list as lists of lists of `shape`."""
    for size in reversed(shape[1:]):
        numbers = [numbers[start:start + size] for start in range(0, len(numbers), size)]
    return numbers


def random_numbers(argument, vocabulary):
    source = random.Random(argument.name)
    count = math.prod(argument.shape)
    if argument.element == "i32":
        return [source.randrange(vocabulary) for _ in range(count)]
    center = 1.0 if argument.init == "ones" else 0.0
    return [source.gauss(center, 0.3) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runner_utils", help="upstream's libmlir_c_runner_utils.so")
    parser.add_argument("model", choices=("gpt", "gru", "mlp", "resnet"))
    parser.add_argument("--reference-activation", metavar="KIND",
                        help="the reference computes another model, on purpose")
    options, generator_options = parser.parse_known_args()

    generator = load_generator(options.model)
    config = generator.parse_arguments(["--type", "f64", *generator_options])
    text = generator.build(config)
    arguments = run_upstream.arguments_of(text)
    numbers = {argument.name: random_numbers(argument, getattr(config, "vocabulary", getattr(config, "classes", None)))
               for argument in arguments}
    values = {argument.name: nested(numbers[argument.name], argument.shape)
              for argument in arguments}

    if options.reference_activation:
        config.activation = options.reference_activation
    if options.model == "gru":
        expected = reference.gru_loss(config, values, values["x"], values["y"])
    elif options.model == "gpt":
        expected = reference.gpt_loss(config, values, values["tokens"], values["labels"])
    elif options.model == "resnet":
        expected = reference.resnet_loss(config, values, values["image"], values["labels"])
    else:
        expected = reference.mlp_loss(config, values, values["x"], values["y"])
    found = run_upstream.run(text, numbers, options.runner_utils)
    error = abs(found - expected) / abs(expected)
    print(f"loss {found!r}, reference {expected!r}, relative error {error:.3g}")
    if not error <= TOLERANCE:
        sys.exit(f"the relative error is above {TOLERANCE}")
    print("loss agrees")


if __name__ == "__main__":
    main()
