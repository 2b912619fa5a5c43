# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a joint graph by somebody else, and compares it with our derivative.

Usage: joint_graphs.py joint.mlir, in an empty directory. What it prints is in
joint-graphs.test.
"""

import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

SCHEDULES = ("1f1b", "zb-h1", "zb-v")
# Of veeline compile: see lit.cfg.py.
QUICK = os.environ.get("VEELINE_TEST_QUICK", "").split()


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def write_npy(path, shape):
    values = [random.uniform(-1, 1) for _ in range(shape[0] * shape[1])]
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    content = struct.pack(f"<{len(values)}d", *values)
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content)


def read(path):
    """All numbers of a .safetensors file, by name."""
    content = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack_from("<Q", content)
    tensors = {}
    for name, tensor in json.loads(content[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in tensor["data_offsets"])
            tensors[name] = struct.unpack(f"<{(end - begin) // 8}d", content[begin:end])
    return tensors


def train(model, stages, schedule, microbatches=4):
    """The parameters after three steps, as a file."""
    options = ["--stages", str(stages), "--microbatches", str(microbatches), "--schedule", schedule, "--optimizer", "sgd"]
    chunks = ["--chunks-per-stage", "2"] if schedule == "zb-v" else []
    run("veeline", "compile", *QUICK, "-q", model, "--no-reference", *options, *chunks, "-o", "a.vee")
    run("veeline", "train", "a.vee", "--data", "arg4=x.npy", "--data", "arg5=t.npy", "--steps", "3", "--lr", "0.125", "--save", "a.safetensors")
    return pathlib.Path("a.safetensors").read_bytes()


def main():
    random.seed(7)
    write_npy("x.npy", (48, 8))
    write_npy("t.npy", (48, 2))
    source = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    pathlib.Path("plain.mlir").write_text(source, encoding="utf-8")
    run("veeline-opt", "plain.mlir", "--pipe-import-joint=params=0-3", "-o", "joint.mlir")

    # Our derivative: the same forward, without the gradients.
    joint = pathlib.Path("joint.mlir").read_text(encoding="utf-8")
    forward = re.sub(r"-> \((tensor<f64>), .*\) \{", r"-> \1 {", joint, count=1)
    forward = re.sub(r"return (%\w+), .* : (tensor<f64>), .*", r"return \1 : \2", forward)
    pathlib.Path("forward.mlir").write_text(forward, encoding="utf-8")
    train("forward.mlir", 1, "1f1b")
    expected = read("a.safetensors")
    first = train("joint.mlir", 1, "1f1b")
    found = read("a.safetensors")
    assert expected.keys() == found.keys() and len(found) == 4, found.keys()
    for name, values in expected.items():
        worst = max(abs(a - b) for a, b in zip(values, found[name], strict=True))
        assert 0 < max(map(abs, values)) and worst < 1e-13, f"{name} differs by {worst}"
    print("gradients and parameters are those of the forward's derivative")

    number = 0
    for stages in (1, 2, 3, 4):
        for schedule in SCHEDULES:
            assert train("joint.mlir", stages, schedule) == first, f"{schedule} on {stages} stages has other bits"
            number += 1
    print(f"{number} pipelines have the same bits")

    # The update is the same arithmetic: with one microbatch and with four.
    updates = re.sub(r"return %loss, .* :", "return %loss, %w0_new, %b0_new, %w1_new, %b1_new :", source)
    pathlib.Path("plain.mlir").write_text(updates, encoding="utf-8")
    run("veeline-opt", "plain.mlir", "--pipe-import-joint=params=0-3 results=updates", "-o", "updates.mlir")
    assert train("updates.mlir", 2, "zb-h1") == first
    assert train("updates.mlir", 1, "1f1b", 1) == train("joint.mlir", 1, "1f1b", 1) != first
    print("updates in the graph give the same bits")


if __name__ == "__main__":
    main()
