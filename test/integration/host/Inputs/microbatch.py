"""Compares one microbatch of N samples with N microbatches of one.

Usage: microbatch.py WORK MODEL N [OPTION...]

Compiles MODEL both ways in f64 with the options, runs a step of plain gradient
descent from the same parameters on the same samples, and compares loss and
parameters: relative difference at most 1e-12.
"""

import array
import json
import pathlib
import struct
import sys

from models import MODELS, make_data, run

# A gradient is what a step takes off the parameters: with a large power of two
# as the rate, little of it is lost to their own size.
RATE = 2**20


# Of data that are positions.
RANGES = {"dropped": {"arg1": (0, 5)}}


def read_tensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        tensors = {}
        for name, entry in sorted(header.items(), key=lambda item: item[1].get("data_offsets", [0])[0]):
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                file.seek(8 + length + begin)
                tensors[name] = array.array("d", file.read(end - begin))
    return tensors


def step(work, model, size, count, options):
    """The loss and, by name, how far a step moves each parameter."""
    artifact = work / f"size{size}.vee"
    run("veeline", "compile", model, "-o", str(artifact), "--microbatch-size", str(size), "--microbatches", str(count // size),
        "--retype", "f64", "--optimizer", "sgd", "--no-reference", "--quiet", *options)
    metadata = json.loads(run("veeline", "inspect", "--json", str(artifact))[0])
    name = pathlib.Path(model).stem
    ranges = MODELS[name][2] if name in MODELS else RANGES.get(name, {})
    data = []
    for value in metadata["batches"]:
        path = work / f"{value['name']}.npy"
        if size == 1:
            bound = value["range"]
            make_data(value, count, {value["name"]: (bound[0], bound[1] - 1)} if bound else ranges, path)
        data += ["--data", f"{value['name']}={path}"]
    values = []
    for rate in (0, RATE):
        saved, metrics = work / "saved.safetensors", work / "metrics.csv"
        run("veeline", "train", str(artifact), "--steps", "1", "--lr", str(rate), "--weight-decay", "0", "--save", str(saved),
            "--metrics", str(metrics), *data)
        values.append(read_tensors(saved))
    rows = [line.split(",") for line in metrics.read_text().splitlines()]
    moved = {name: array.array("d", map(float.__sub__, values[0][name], values[1][name])) for name in values[0]}
    return float(rows[1][rows[0].index("loss")]), moved


def norm(values):
    return sum(value * value for value in values) ** 0.5


def distance(a, b):
    return norm(map(float.__sub__, a, b)) / max(norm(b), 1e-300)


def main():
    work, model, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    work.mkdir(parents=True, exist_ok=True)
    loss, moved = step(work, model, 1, count, sys.argv[4:])
    together, moved_together = step(work, model, count, count, sys.argv[4:])
    worst = max([abs(loss - together) / abs(loss)] + [distance(moved_together[name], moved[name]) for name in moved])
    assert any(any(values) for values in moved.values()), "all gradients are zero"
    print(f"{pathlib.Path(model).stem}: {len(moved)} parameters, {count} samples: {worst:.1e}", end="")
    print(": equal" if worst <= 1e-12 else ": different")


main()
