# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Goes on from checkpoints of the other target, over the stand-ins: other_target.py BUILD MODEL DATA HOST_OPTIONS CUDA_OPTIONS

Options are those of compile. What a checkpoint has must be what the next target begins with: a step at a learning rate of zero leaves
the parameters as the checkpoint has them. With a learning rate, losses are close to those of the target that did not stop.
"""

import csv
import os
import pathlib
import shutil
import sys

from standin import compile_for_gpu, count_ranks, libraries, run


def train(artifact, data, *options):
    device = libraries(sys.argv[1]) if "cuda" in artifact.name else []
    return run("veeline", "train", artifact, *data.split(), "--weight-decay", "0.1", *options, *device,
               VEELINE_STANDIN_DEVICES=str(count_ranks(artifact)))


def losses(path):
    return [float(row["loss"]) for row in csv.DictReader(open(path, newline="", encoding="utf-8"))]


def go_on(data, first, second):
    name = f"{first.stem} to {second.stem}"
    folder = f"from-{first.stem}"
    shutil.rmtree(folder, ignore_errors=True)
    train(first, data, "--steps", "4", "--checkpoint", folder)
    run("veeline", "export", folder, "-o", "before.safetensors")
    train(second, data, "--steps", "5", "--lr", "0", "--resume", folder, "--save", "after.safetensors")
    tensors = [pathlib.Path(path).read_bytes() for path in ("before.safetensors", "after.safetensors")]
    # Behind the headers, which have the numbers of steps.
    same = [content[8 + int.from_bytes(content[:8], "little") :] for content in tensors]
    print(f"{name}: {'the same' if same[0] == same[1] else 'OTHER'} parameters")
    said = train(second, data, "--steps", "9", "--resume", folder, "--metrics", "went-on.csv")
    train(first, data, "--steps", "9", "--metrics", "whole.csv")
    differences = [abs(a - b) for a, b in zip(losses("went-on.csv"), losses("whole.csv")[4:], strict=True)]
    print(f"{name}: {len(differences)} losses are {'close' if max(differences) < 1e-5 else f'NOT close: {differences}'}")
    print(*[line for line in said.splitlines() if "remark" in line], sep="\n")


def main():
    _, model, data, host_options, cuda_options = sys.argv[1:]
    host = pathlib.Path("host.vee")
    run("veeline", "compile", *os.environ.get("VEELINE_TEST_QUICK", "").split(), "-q", "--no-reference", model, "-o", host, *host_options.split())
    cuda = compile_for_gpu(model, pathlib.Path("."), ["--no-reference", *cuda_options.split()])
    go_on(data, host, cuda)
    go_on(data, cuda, host)


if __name__ == "__main__":
    main()
