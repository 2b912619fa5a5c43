# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes lengths of samples, a .npy file of more than 64 MiB: PATH VALUES, as in `x.npy 1,3,5`.

All are 1 but the first ones. Processes compare such a file by a sample, which does not see these: they
begin behind its first block, and end before the second one.
"""

import struct
import sys

BLOCK, BLOCKS, COUNT = 64 << 10, 1024, 8_640_000

path, values = sys.argv[1:]
first = [int(value) for value in values.split(",")]
assert BLOCK + 8 * len(first) <= 8 * COUNT // (BLOCKS - 1)
begin = b"\x93NUMPY\x01\x00"
header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({COUNT},), }}".ljust(BLOCK - len(begin) - 3) + "\n"
with open(path, "wb") as file:
    file.write(begin + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{len(first)}q", *first))
    file.write(struct.pack("<q", 1) * (COUNT - len(first)))
