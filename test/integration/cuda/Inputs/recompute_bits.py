# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model for a GPU over the stand-ins, with several choices of what is kept, and counts the parameters that come out.

Usage: recompute_bits.py BUILD MODEL WORK OPTION ...

The choices are none, half and full of --recompute, of one cut each.
"""

import hashlib
import json
import pathlib
import sys

from standin import compile_for_gpu, libraries, run


def bytes_kept(artifact):
    metadata = json.loads(run("veeline", "inspect", artifact, "--json"))
    program, = (program for program in metadata["programs"] if program["name"] == "pipeline")
    return sum(chunk["residual_bytes"] for chunk in program["chunks"])


def main():
    build, model, work, *options = sys.argv[1:]
    digests, kept = {}, []
    for choice in ("none", "0.5", "full"):
        folder = pathlib.Path(work) / choice
        folder.mkdir(parents=True, exist_ok=True)
        device = compile_for_gpu(model, folder, [*options, "--no-reference", "--recompute", choice])
        kept.append(bytes_kept(device))
        saved = folder / "parameters.safetensors"
        run("veeline", "train", device, "--steps", "3", "--synthetic", "fixed", "--save", saved, *libraries(build))
        digests.setdefault(hashlib.sha256(saved.read_bytes()).hexdigest(), []).append(choice)
    # Choices that keep the same would show nothing.
    if not kept[0] > kept[1] > kept[2]:
        sys.exit(f"none, half and full keep {kept} bytes, expected fewer each time")
    print(f"bits: {'; '.join(', '.join(choices) for choices in digests.values())}")


if __name__ == "__main__":
    main()
