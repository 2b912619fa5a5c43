# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the tensors of .safetensors files: same_tensors.py FILE OTHER... [--order NAME=OTHER_NAME:3,2,0,1]

Prints whether FILE has the names, types, shapes and bytes that the others have together, or where they first differ. With --order,
compares only that tensor of FILE with one of the others: dimension i of the latter is dimension order[i] of the former.
"""

import argparse
import itertools
import json
import pathlib


def read(path):
    content = pathlib.Path(path).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], content[end + entry["data_offsets"][0] : end + entry["data_offsets"][1]])
            for name, entry in header.items()}


def permuted(tensor, order):
    kind, shape, content = tensor
    strides = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        strides[i] = strides[i + 1] * shape[i + 1]
    count = strides[0] * shape[0]
    width = len(content) // count
    places = (sum(index * strides[dim] for index, dim in zip(indices, order))
              for indices in itertools.product(*(range(shape[dim]) for dim in order)))
    return kind, [shape[dim] for dim in order], b"".join(content[place * width :][:width] for place in places)


def difference(have, want):
    for name in sorted(have.keys() | want.keys()):
        if name not in have or name not in want:
            return f"'{name}' is only in {'the first' if name in have else 'another'}"
        for what, a, b in zip(("type", "shape", "bytes"), have[name], want[name]):
            if a != b:
                return f"other {what} of '{name}'" + (f": {a} and {b}" if what != "bytes" else "")
    return "the same tensors"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--order")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    first = read(arguments.files[0])
    others = {name: tensor for path in arguments.files[1:] for name, tensor in read(path).items()}
    if arguments.order:
        names, _, order = arguments.order.partition(":")
        name, _, other = names.partition("=")
        first = {other: permuted(first[name], [int(dim) for dim in order.split(",")])}
        others = {other: others[other]}
    print(difference(first, others))


if __name__ == "__main__":
    main()
