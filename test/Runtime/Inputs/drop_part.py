# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the piece of rank 1 out of a checkpoint, and out of its index.

Usage: drop_part.py CHECKPOINT
"""

import re
import sys

from crc import reflected_crc


path = f"{sys.argv[1]}/index.json"
with open(path, encoding="utf-8") as file:
    text = file.read()
piece = re.search(r',\s*\{[^{}]*"rank-1\.safetensors"[^{}]*\}', text)
text = text.replace(piece[0], "")
# The checksum is that of the text in which it is empty.
before, own, after = re.split(r'(?m)^ "checksum": "(\w+)"$', text)
empty = f'{before} "checksum": ""{after}'
text = f'{before} "checksum": "{reflected_crc(empty.encode(), 64, 0xC96C5795D7870F42):016x}"{after}'
with open(path, "w", encoding="utf-8") as file:
    file.write(text)
