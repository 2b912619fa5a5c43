# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages a file.

Usage: damage.py truncated|missing|flipped FILE
"""

import os
import sys

kind, path = sys.argv[1:]
size = os.path.getsize(path)
if kind == "truncated":
    os.truncate(path, size // 2)
elif kind == "missing":
    os.remove(path)
else:
    with open(path, "r+b") as file:
        file.seek(size * 2 // 3)
        byte = file.read(1)[0]
        file.seek(size * 2 // 3)
        file.write(bytes([byte ^ 4]))
