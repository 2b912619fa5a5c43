"""Compiles and trains model files by others.

Each model is imported, cut into as many stages as it has pieces for (up to 4),
scheduled by zb-v, and trained for 20 steps on one fixed synthetic batch: its
loss must fall by at least a fifth, and be bitwise the loss of the sequential
program at every step. --verify compares the gradients.

Usage: models.py DIRECTORY WORK [NAME...]
"""

import json
import pathlib
import random
import struct
import subprocess
import sys
import time

STEPS = 20
MICROBATCHES = 4
# Per file: options of compile, learning rate, and the range of data by name.
MODELS = {
    "mlp-3x1024": (["--loss", "mse"], 0.01, {}),
    "mnist-mlp": (["--loss", "cross-entropy"], 0.01, {}),
    "lenet-tosa": (["--loss", "cross-entropy"], 0.01, {}),
    "llama-mlp-bf16": (["--loss", "mse", "--optimizer", "sgd"], 0.5, {}),
    "qwen-ffn-tosa": (["--loss", "mse"], 0.0002, {}),
    "multi-head-attention": (["--loss", "mse"], 0.01, {}),
    # A layer without weights of its own: its caches are trained.
    "gqa-attention-tosa": (["--loss", "mse", "--params", "1,2"], 0.1, {}),
    "mobilenet": (["--loss", "cross-entropy"], 0.001, {}),
    "mobilebert": (["--loss", "mse"], 0.001, {"input_word_ids": (0, 30000), "input_type_ids": (0, 1), "input_mask": (1, 1)}),
}
FORMATS = {"f32": ("<f4", "f"), "f64": ("<f8", "d"), "i32": ("<i4", "i"), "i64": ("<i8", "q"), "i1": ("|b1", "?"), "i8": ("|i1", "b")}


def run(*command):
    began = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexits with {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-4000:]}")
    return result.stdout, time.monotonic() - began


def write_npy(path, dtype, shape, values):
    descr, code = FORMATS[dtype]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{code}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def make_data(batch, microbatches, ranges, path):
    """The samples of so many microbatches."""
    random.seed(batch["name"])
    shape = [batch["shape"][0] * microbatches] + batch["shape"][1:]
    count = 1
    for extent in shape:
        count *= extent
    low, high = ranges.get(batch["name"], (None, None))
    if batch["type"].startswith("f"):
        whole = low is not None
        values = [float(random.randint(low, high)) if whole else random.gauss(0, 1) for _ in range(count)]
    else:
        values = [random.randint(low or 0, high if high is not None else 9) for _ in range(count)]
    write_npy(path, batch["type"], shape, values)


def make_all_data(metadata, ranges, prefix, microbatches):
    """Files for everything that an artifact reads, as options of train."""
    data = []
    for inputs, count in ((metadata["batches"], microbatches), (metadata["buffers"], 1)):
        for value in inputs:
            path = pathlib.Path(f"{prefix}.{value['name']}.npy")
            make_data(value, count, ranges, path)
            data += ["--data", f"{value['name']}={path}"]
    return data


def train(name, source, work):
    options, rate, ranges = MODELS[name]
    pieces, _ = run("veeline", "inspect", "--pieces", str(source), *options[:2], *[o for o in options[2:] if options[2:3] == ["--params"]])
    stages = min(4, (len(pieces.strip().splitlines()) - 2) // 2)
    artifact = work / f"{name}.vee"
    _, compiled = run("veeline", "compile", str(source), "-o", str(artifact), "--stages", str(stages), "--chunks-per-stage",
                      "2", "--schedule", "zb-v", "--microbatches", str(MICROBATCHES), "--no-reference", "--quiet", *options)
    metadata = json.loads(run("veeline", "inspect", "--json", str(artifact))[0])
    data = make_all_data(metadata, ranges, work / name, MICROBATCHES)
    run("veeline", "train", str(artifact), "--verify", "--steps", "1", *data)
    metrics = work / f"{name}.csv"
    _, trained = run("veeline", "train", str(artifact), "--steps", str(STEPS), "--lr", str(rate), "--metrics", str(metrics),
                     "--compare-sequential", *data)
    rows = [line.split(",") for line in metrics.read_text().splitlines()]
    column = rows[0].index("loss")
    losses = [float(row[column]) for row in rows[1:]]
    assert len(losses) == STEPS, losses
    fell = 1 - losses[-1] / losses[0]
    print(f"{name}: {stages} stages, compiled in {compiled:.1f} s, loss {losses[0]:.4f} -> {losses[-1]:.4f} "
          f"in {trained:.1f} s", flush=True)
    if not fell >= 0.2:
        sys.exit(f"{name}: the loss falls by {100 * fell:.1f} %, expected at least 20 %: {losses}")


def main():
    directory, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or MODELS:
        train(name, directory / f"{name}.mlir", work)


if __name__ == "__main__":
    main()
