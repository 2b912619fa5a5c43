"""Writes a .npy file: PATH DESCR SHAPE VALUES, as in `x.npy '<i4' 2,3 0,1,2`.
Values repeat to fill the shape."""

import itertools
import math
import struct
import sys

path, descr, shape, values = sys.argv[1:5]
extents = [int(extent) for extent in shape.split(",") if extent]
fortran = len(sys.argv) > 5 and sys.argv[5] == "fortran"
header = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
    descr,
    fortran,
    "".join(f"{extent}, " for extent in extents),
)
header = header.ljust(117) + "\n"
code = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u4": "I"}[descr[1:]]
convert = float if code in "fd" else int
cycle = itertools.cycle([convert(value) for value in values.split(",")])
content = list(itertools.islice(cycle, math.prod(extents)))
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode())
    order = ">" if descr[0] == ">" else "<"
    file.write(struct.pack(f"{order}{len(content)}{code}", *content))
