# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model with its attention as it is, and found and made of products again.

Both train for some steps on the same data; their losses agree up to rounding,
and the gradients of the pipeline with attention are bitwise those of its
sequential program (--verify).

Usage: attention.py MODEL COUNT IMPORT COMPILE...
MODEL is a file, or the name of one in models.py, COUNT how many attentions there
are, IMPORT the options of --pipe-import, COMPILE those of veeline compile.
"""

import json
import pathlib
import sys

from models import MODELS, QUICK, make_all_data, run

STEPS = 5
MOST = 1e-4


def losses(path):
    rows = [line.split(",") for line in pathlib.Path(path).read_text().splitlines()]
    column = rows[0].index("loss")
    return [float(row[column]) for row in rows[1:]]


def main():
    model, count, options, *compile_options = sys.argv[1:]
    name = pathlib.Path(model).stem
    _, rate, ranges = MODELS.get(name, ([], 0.01, {"tokens": (0, 10), "labels": (0, 10)}))
    run("veeline-opt", model, f"--pipe-import={options}", "-o", "plain.mlir")
    run("veeline-opt", "plain.mlir", "--pipe-recognize-attention", "-o", "found.mlir")
    found = pathlib.Path("found.mlir").read_text().count(" = pipe.attention ")
    if found != int(count):
        sys.exit(f"{model}: {found} attentions are found, expected {count}")
    results = []
    for kind in ("plain", "found"):
        run("veeline", "compile", *QUICK, f"{kind}.mlir", "-o", f"{kind}.vee", "--no-reference", "--quiet", *compile_options)
        metadata = json.loads(run("veeline", "inspect", "--json", f"{kind}.vee")[0])
        data = make_all_data(metadata, ranges, "data", metadata["microbatches"])
        run("veeline", "train", f"{kind}.vee", "--verify", "--steps", "1", *data)
        run("veeline", "train", f"{kind}.vee", "--steps", str(STEPS), "--lr", str(rate), "--metrics", f"{kind}.csv", *data)
        results.append(losses(f"{kind}.csv"))
    apart = max(abs(a - b) / abs(b) for a, b in zip(*results))
    if len(results[0]) != STEPS or not apart <= MOST:
        sys.exit(f"{model}: losses {results[0]} and {results[1]} are {apart} apart")
    print(f"{name}: {found} attentions, {STEPS} losses agree")


if __name__ == "__main__":
    main()
