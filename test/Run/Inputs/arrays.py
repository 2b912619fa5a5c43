"""Writes x.npy and y.npy with so many samples of 4 and 2 numbers, of f32."""

import struct
import sys

SAMPLES = int(sys.argv[1])
for name, width in (("x", 4), ("y", 2)):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({SAMPLES}, {width}), }}".ljust(117) + "\n"
    values = [i % 7 / 7 for i in range(SAMPLES * width)]
    with open(name + ".npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}f", *values))
