"""Writes .npy files.

Usage: npy.py PATH DESCR SHAPE VALUES [fortran], as in `x.npy '<i4' 2,3 0,1,2`.
Values repeat to fill the shape.
"""

import itertools
import math
import pathlib
import struct
import sys

# By the names that artifacts have for types.
DESCRS = {"f32": "<f4", "f64": "<f8", "i1": "|b1", "i8": "|i1", "i32": "<i4", "i64": "<i8"}
CODES = {"f4": "f", "f8": "d", "b1": "?", "i1": "b", "i4": "i", "i8": "q", "u4": "I"}


def write(path, dtype, shape, values, fortran=False):
    """`dtype` is the name of a type, or what the file says of it."""
    descr = DESCRS.get(dtype, dtype)
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({''.join(f'{extent}, ' for extent in shape)}), }}"
    # With the ten bytes before it, a multiple of 64.
    header += " " * (-(len(header) + 11) % 64) + "\n"
    order = ">" if descr[0] == ">" else "<"
    content = struct.pack(f"{order}{len(values)}{CODES[descr[1:]]}", *values)
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content)


def main():
    path, descr, shape, values = sys.argv[1:5]
    extents = [int(extent) for extent in shape.split(",") if extent]
    convert = float if CODES[descr[1:]] in "fd" else int
    cycle = itertools.cycle([convert(value) for value in values.split(",")])
    write(path, descr, extents, list(itertools.islice(cycle, math.prod(extents))), fortran="fortran" in sys.argv[5:])


if __name__ == "__main__":
    main()
