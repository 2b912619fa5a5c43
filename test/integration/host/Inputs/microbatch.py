"""Compares one microbatch of N samples with N microbatches of one.

Usage: microbatch.py WORK MODEL N [OPTION...]

Compiles MODEL both ways in f64 with the options, runs a step of plain gradient
descent from the same parameters on the same samples, and compares loss and
parameters: relative difference at most 1e-12.
"""

import json
import math
import pathlib
import struct
import sys

from models import make_data, run


def read_tensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = struct.unpack(f"<{(end - begin) // 8}d", data[begin:end])
    return tensors


def step(work, model, size, count, options):
    """The loss and, by name, how far a step moves each parameter."""
    artifact = work / f"size{size}.vee"
    run("veeline", "compile", model, "-o", str(artifact), "--microbatch-size", str(size), "--microbatches", str(count // size),
        "--retype", "f64", "--optimizer", "sgd", "--no-reference", "--quiet", *options)
    metadata = json.loads(run("veeline", "inspect", "--json", str(artifact))[0])
    data = []
    for value in metadata["batches"]:
        path = work / f"{value['name']}.npy"
        if size == 1:
            bound = value["range"]
            make_data(value, count, {value["name"]: (bound[0], bound[1] - 1)} if bound else {}, path)
        data += ["--data", f"{value['name']}={path}"]
    values = []
    for rate in ("0", "1"):
        saved, metrics = work / "saved.safetensors", work / "metrics.csv"
        run("veeline", "train", str(artifact), "--steps", "1", "--lr", rate, "--weight-decay", "0", "--save", str(saved), "--metrics",
            str(metrics), *data)
        values.append(read_tensors(saved))
    rows = [line.split(",") for line in metrics.read_text().splitlines()]
    moved = {name: [a - b for a, b in zip(values[0][name], values[1][name])] for name in values[0]}
    return float(rows[1][rows[0].index("loss")]), moved


def distance(a, b):
    return math.dist(a, b) / max(math.hypot(*b), 1e-300)


def main():
    work, model, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    work.mkdir(parents=True, exist_ok=True)
    loss, moved = step(work, model, 1, count, sys.argv[4:])
    together, moved_together = step(work, model, count, count, sys.argv[4:])
    worst = max([abs(loss - together) / abs(loss)] + [distance(moved_together[name], moved[name]) for name in moved])
    assert any(any(values) for values in moved.values()), "all gradients are zero"
    assert worst <= 1e-12, worst
    print(f"{pathlib.Path(model).stem}: {len(moved)} parameters, {count} samples: equal")


main()
