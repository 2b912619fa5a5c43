"""moved.py FROM TO RATE: by how much f32 parameters moved, in units of RATE."""

import json
import math
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return tensors


before, after, rate = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
moves = [
    (y - x) / rate for name in before for x, y in zip(before[name], after[name])
]
print(f"norm {math.sqrt(math.fsum(move * move for move in moves)):.6f}")
print(f"most {max(map(abs, moves)):.6f}")
