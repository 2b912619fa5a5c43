# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains models by others as joint graphs of our derivative, and as they are.

Usage: joint_models.py DIRECTORY NAME..., in an empty directory. The parameters
have to have the same bits. Options of the models are those of models.py.
"""

import json
import pathlib
import sys

from models import MODELS, QUICK, make_all_data, run

MICROBATCHES = 4


def train(source, name, *more):
    """The parameters after three steps, and their number."""
    options = ["--stages", "2", "--microbatches", str(MICROBATCHES), "--schedule", "zb-h1", "--optimizer", "sgd", "--no-reference", *more]
    run("veeline", "compile", "--quiet", source, *options, "-o", "a.vee")
    metadata = json.loads(run("veeline", "inspect", "--json", "a.vee")[0])
    data = make_all_data(metadata, MODELS[name][2], name, MICROBATCHES)
    run("veeline", "train", "a.vee", "--steps", "3", "--save", "a.safetensors", *data)
    return pathlib.Path("a.safetensors").read_bytes(), len(metadata["params"])


def main():
    directory, *names = sys.argv[1:]
    for name in names:
        options = MODELS[name][0]
        imports = " ".join(f"{option[2:]}={value}" for option, value in zip(options[::2], options[1::2], strict=True))
        run("veeline-opt", f"{directory}/{name}.mlir", f"--pipe-import={imports}", "-o", "model.mlir")
        run("veeline-opt", "model.mlir", "--pipe-joint-graph", "-o", "joint.mlir")
        expected, count = train("model.mlir", name, *QUICK)
        found, _ = train("joint.mlir", name)
        if found != expected:
            sys.exit(f"{name}: the joint graph trains to other parameters")
        print(f"{name}: {count} parameters have the same bits", flush=True)


if __name__ == "__main__":
    main()
