"""Usage: data.py SAMPLES

Writes x.npy, f32[SAMPLES x 4], and y.npy, f32[SAMPLES x 1], and their values alone as x.bin and y.bin.
"""

import random
import struct
import sys

samples = int(sys.argv[1])
numbers = random.Random(1)
for name, width in (("x", 4), ("y", 1)):
    values = struct.pack(f"<{samples * width}f", *(numbers.uniform(-1, 1) for _ in range(samples * width)))
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({samples}, {width}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(f"{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)
    with open(f"{name}.bin", "wb") as file:
        file.write(values)
