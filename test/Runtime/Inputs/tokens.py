# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes files of tokens below 256: tokens.py FILE:CODE:COUNT..., where CODE is an array's type code."""

import array
import pathlib
import random
import sys

DESCR = {"B": "|u1", "H": "<u2", "I": "<u4", "q": "<i8"}

for argument in sys.argv[1:]:
    name, code, count = argument.split(":")
    numbers = random.Random(name)
    tokens = array.array(code, (numbers.randrange(256) for _ in range(int(count))))
    content = tokens.tobytes()
    if name.endswith(".npy"):
        text = f"{{'descr': '{DESCR[code]}', 'fortran_order': False, 'shape': ({count},), }}"
        text = text.ljust(117) + "\n"
        content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + content
    pathlib.Path(name).write_bytes(content)
