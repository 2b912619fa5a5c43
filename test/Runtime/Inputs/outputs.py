# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the tensors of a .safetensors file, and which of them has the elements of a .npy file.

Usage: outputs.py FILE.safetensors FILE.npy
"""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(size))
    data = file.read()
with open(sys.argv[2], "rb") as file:
    array = file.read()
    array = array[10 + struct.unpack("<H", array[8:10])[0]:]
header.pop("__metadata__")
for name, entry in sorted(header.items()):
    begin, end = entry["data_offsets"]
    same = f", as {sys.argv[2]}" if data[begin:end] == array else ""
    print(f"{name} {entry['dtype']} {entry['shape']}{same}")
