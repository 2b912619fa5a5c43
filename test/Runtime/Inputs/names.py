# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renames the tensors of a .safetensors file: names.py FROM TO [--type F32|BF16] [--without NAME] NAME=OTHER...

A name with ^ in front is transposed. Tensors that are not named keep their names. Those of BF16 are the upper halves, and FROM gets zeros
in the lower ones, so that both have the same numbers.
"""

import argparse
import json
import pathlib


def read(path):
    content = pathlib.Path(path).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    return {name: (entry["shape"], content[end + entry["data_offsets"][0] : end + entry["data_offsets"][1]]) for name, entry in header.items()}


def write(path, tensors, kind):
    header, data = {}, b""
    for name, (shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + data)


def transposed(shape, content):
    rows, columns = shape
    size = len(content) // (rows * columns)
    return [columns, rows], b"".join(content[(i * columns + j) * size :][:size] for j in range(columns) for i in range(rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--type", default="F32")
    parser.add_argument("--without")
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    names = dict(pair.split("=") for pair in arguments.names)
    tensors, renamed = read(arguments.source), {}
    if arguments.type == "BF16":
        tensors = {name: (shape, b"".join(b"\0\0" + content[i + 2 : i + 4] for i in range(0, len(content), 4)))
                   for name, (shape, content) in tensors.items()}
        write(arguments.source, tensors, "F32")
    for name, (shape, content) in tensors.items():
        if arguments.type == "BF16":
            content = b"".join(content[i + 2 : i + 4] for i in range(0, len(content), 4))
        if f"^{name}" in names:
            renamed[names[f"^{name}"]] = transposed(shape, content)
        elif name != arguments.without:
            renamed[names.get(name, name)] = (shape, content)
    write(arguments.target, renamed, arguments.type)


if __name__ == "__main__":
    main()
