"""Documents, packed into windows and each as a sample of its own; and whether two runs agree.

Usage: packed.py write
       packed.py compare A.csv A.safetensors B.csv B.safetensors

`write` makes packed.bin, 4 windows of 12 tokens with 9 documents, each of which ends with
token 39, and tokens.npy, labels.npy and lengths.npy, where each document is a sample: its
tokens but the last one, and for each of them the next one. `compare` compares losses and
norms of gradients of each step, and the parameters at the end, relative to the greatest.
"""

import csv
import json
import pathlib
import random
import struct
import sys

import npy

WINDOWS = [[5, 7], [12], [3, 4, 5], [2, 6, 4]]
WINDOW, SEPARATOR = 12, 39


def write():
    rng = random.Random(7)
    documents = [[rng.randrange(SEPARATOR) for _ in range(length - 1)] + [SEPARATOR] for window in WINDOWS for length in window]
    stream = [token for document in documents for token in document] + [SEPARATOR]
    pathlib.Path("packed.bin").write_bytes(struct.pack(f"<{len(stream)}H", *stream))

    def samples(name, first, last):
        rows = [document[first:len(document) + last] for document in documents]
        padded = [token for row in rows for token in row + [0] * (WINDOW - len(row))]
        npy.write(name, "i32", [len(rows), WINDOW], padded)

    samples("tokens.npy", 0, -1)
    samples("labels.npy", 1, 0)
    npy.write("lengths.npy", "i32", [len(documents)], [len(document) - 1 for document in documents])


def parameters(path):
    """All elements of a .safetensors file of f64, by name."""
    content = pathlib.Path(path).read_bytes()
    size = struct.unpack_from("<Q", content)[0]
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    values = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values[name] = struct.unpack_from(f"<{(end - begin) // 8}d", content, 8 + size + begin)
    return values


def distance(ours, theirs):
    assert len(ours) == len(theirs)
    return max(abs(a - b) for a, b in zip(ours, theirs)) / max(map(abs, theirs))


def columns(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in ("loss", "gradient_norm")}


def compare(a_csv, a_parameters, b_csv, b_parameters):
    ours, theirs = columns(a_csv), columns(b_csv)
    ours.update(parameters(a_parameters))
    theirs.update(parameters(b_parameters))
    assert ours.keys() == theirs.keys()
    assert max(ours["loss"]) - min(ours["loss"]) > 0.1, "nothing was learnt"
    most = max(distance(ours[name], theirs[name]) for name in ours)
    print(f"{len(ours)} quantities differ by at most {'1e-12' if most <= 1e-12 else most}")


{"write": write, "compare": compare}[sys.argv[1]](*sys.argv[2:])
