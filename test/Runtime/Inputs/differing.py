# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the names of the tensors that differ between two .safetensors files."""

import json
import pathlib
import struct
import sys


def tensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]] for name, entry in header.items()}


first, second = map(tensors, sys.argv[1:])
for name in sorted(first.keys() | second.keys()):
    if first.get(name) != second.get(name):
        print(name)
