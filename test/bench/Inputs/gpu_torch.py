# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the GPT of bench/gpu in PyTorch and by veeline, from the same parameters on the same data: TYPE TOLERANCE PYTHON.

Each loss of some steps has to be within TOLERANCE of the other's, and the steps have
to change it by much more than that.
"""

import csv
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))
from common import write_indices  # noqa: E402

SIZES = {"layers": 2, "width": 24, "heads": 3, "sequence": 10, "vocabulary": 40, "microbatch-size": 2}
MICROBATCHES, STEPS = 3, 6


def run(*command):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed with exit code {result.returncode}")
    return result.stdout


def veeline_losses(kind, sizes, work):
    run(sys.executable, ROOT / "examples/gpt/generate.py", *sizes, "--tied", "--type", kind, "-o", work / "gpt.mlir")
    run("veeline", "compile", "-q", work / "gpt.mlir", "--microbatches", MICROBATCHES, "-o", work / "gpt.vee")
    train = ["veeline", "train", work / "gpt.vee", "--data", f"tokens={work}/tokens.npy", "--data", f"labels={work}/labels.npy"]
    run(*train, "--steps", 1, "--save", work / "first.st")
    run(*train, "--steps", STEPS, "--init", work / "first.st", "--metrics", work / "metrics.csv")
    with open(work / "metrics.csv", encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def torch_losses(kind, sizes, work, python):
    output = run(python, ROOT / "bench/gpu/torch_step.py", *sizes, "--microbatches", MICROBATCHES, "--type", kind, "--device", "cpu",
                 "--warm-up", 1, "--steps", STEPS - 1, "--init", work / "first.st", "--tokens", work / "tokens.npy",
                 "--labels", work / "labels.npy")
    found = json.loads(output.splitlines()[-1])
    if len(found["seconds"]) != STEPS - 1:
        sys.exit(f"expected times of {STEPS - 1} steps, found {len(found['seconds'])}")
    return found["losses"]


def main():
    kind, tolerance, python = sys.argv[1:]
    work = pathlib.Path(kind)
    work.mkdir(exist_ok=True)
    shape = (MICROBATCHES * SIZES["microbatch-size"], SIZES["sequence"])
    for seed, name in enumerate(("tokens", "labels")):
        write_indices(work / f"{name}.npy", shape, SIZES["vocabulary"], seed)
    sizes = [str(part) for key, value in SIZES.items() for part in (f"--{key}", value)]
    ours, theirs = veeline_losses(kind, sizes, work), torch_losses(kind, sizes, work, python)
    farthest = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    if not farthest <= float(tolerance):
        sys.exit(f"losses are {farthest} apart: {ours}, and {theirs} in PyTorch")
    if not ours[0] - ours[-1] > 20 * float(tolerance):
        sys.exit(f"losses hardly fall: {ours}")
    print(f"{STEPS} losses in {kind} are PyTorch's, within {tolerance}")


if __name__ == "__main__":
    main()
