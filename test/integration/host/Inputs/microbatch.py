"""Compares one microbatch of N samples with N microbatches of one.

Usage: microbatch.py WORK MODEL N [OPTION...]

Compiles MODEL both ways in f64 with the options, runs a step of plain gradient
descent from the same parameters on the same samples, and compares loss and
parameters: relative difference at most 1e-12 of each.
"""

import json
import pathlib
import sys

from models import MODELS, QUICK, RATE, Parameters, make_data, run

# Of a larger parameter every k-th element is compared.
ELEMENTS = 200_000


# Of data that are positions.
RANGES = {"dropped": {"arg1": (0, 5)}}


def read_tensors(path):
    parameters = Parameters(path)
    tensors = {}
    for name, (begin, end) in parameters.places.items():
        tensors[name] = parameters.values[begin : end : 1 + (end - begin) // ELEMENTS].tolist()
    return tensors


def step(work, model, size, count, options):
    """The loss and, by name, how far a step moves each parameter."""
    artifact = work / f"size{size}.vee"
    # One of the two is compiled as users do.
    run("veeline", "compile", *(QUICK if size == 1 else []), model, "-o", str(artifact), "--microbatch-size", str(size), "--microbatches", str(count // size),
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
        saved, metrics = work / f"saved{rate}.safetensors", work / "metrics.csv"
        run("veeline", "train", str(artifact), "--steps", "1", "--lr", str(rate), "--weight-decay", "0", "--save", str(saved),
            "--metrics", str(metrics), *data)
        values.append(read_tensors(saved))
    rows = [line.split(",") for line in metrics.read_text().splitlines()]
    moved = {name: [a - b for a, b in zip(values[0][name], values[1][name])] for name in values[0]}
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
