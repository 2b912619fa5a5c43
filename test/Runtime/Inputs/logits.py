# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What eval-logits.test compares; arrays are .npy files.

logits.py rows TOKENS LENGTH OUT            the first LENGTH tokens of each sample, as a file of its own
logits.py compare LOGITS LENGTHS SHORT LONG each sample's rows are those of the file with its length (4 or 8), then come zeros
logits.py flat LOGITS LENGTHS FLAT          the rows of all samples without those zeros
logits.py close LOGITS OTHER                they differ by rounding, and have the same zeros
logits.py accuracy SAFETENSORS LABELS       the share of labels that are the largest logits
"""

import pathlib
import re
import struct
import sys

from same_tensors import read


def load(path):
    """The bytes of each element's type, the shape and the data."""
    content = pathlib.Path(path).read_bytes()
    end = 10 + int.from_bytes(content[8:10], "little")
    header = content[10:end].decode()
    shape = [int(extent) for extent in re.findall(r"\d+", re.search(r"'shape': \(([^)]*)\)", header)[1])]
    return int(re.search(r"'descr': '<\w(\d)'", header)[1]), shape, content[end:], header


def rows(path, length, target):
    width, shape, data, header = load(path)
    size = shape[1] * width
    cut = b"".join(data[i * size : i * size + int(length) * width] for i in range(shape[0]))
    header = header.replace(f"{shape[0]}, {shape[1]}", f"{shape[0]}, {length}").encode()
    pathlib.Path(target).write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + cut)


def compare(path, lengths, short, long):
    width, shape, data, _ = load(path)
    lengths = [int(length) for length in lengths.split(",")]
    row, size = shape[2] * width, shape[1] * shape[2] * width
    for i, length in enumerate(lengths):
        sample, other = data[i * size : (i + 1) * size], load(short if length == 4 else long)[2]
        if sample[: length * row] != other[i * length * row : (i + 1) * length * row]:
            sys.exit(f"other bits of sample {i}, of length {length}")
        if any(sample[length * row :]):
            sys.exit(f"no zeros behind sample {i}")
    if len(data) != len(lengths) * size:
        sys.exit("other samples")
    print(f"{shape}: {lengths.count(4)} rows of length 4 and {lengths.count(8)} of length 8 have the bits of models of these lengths, "
          "and zeros behind them")


def flat(path, lengths, other):
    width, shape, data, _ = load(path)
    row, size = shape[2] * width, shape[1] * shape[2] * width
    kept = b"".join(data[i * size : i * size + int(length) * row] for i, length in enumerate(lengths.split(",")))
    _, found, have, _ = load(other)
    print(f"{found}: {'the' if kept == have else 'OTHER than the'} rows of {path} without zeros")


def close(path, other):
    numbers = []
    for one in (path, other):
        _, shape, data, _ = load(one)
        numbers.append(struct.unpack(f"<{len(data) // 4}f", data))
    same = all(abs(a - b) <= 1e-5 * (abs(a) + abs(b) + 1e-2) and (a == 0) == (b == 0) for a, b in zip(*numbers, strict=True))
    print(f"{shape}: {'close' if same else 'NOT close'}")


def accuracy(path, labels):
    (_, shape, data), = read(path).values()
    count, classes = shape
    logits = struct.unpack(f"<{count * classes}f", data)
    right = struct.unpack(f"<{count}i", load(labels)[2])
    hits = sum(max(range(classes), key=lambda k: logits[i * classes + k]) == label for i, label in enumerate(right))
    print(f"{shape}: accuracy {hits / count:.4g}")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
