#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes image.npy and labels.npy for a ResNet: noise, in which a label's image has one bright color.

Arguments: IMAGES SIZE
"""

import random
import struct
import sys


def write(path, shape, descr, code, numbers):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))


images, size = map(int, sys.argv[1:3])
source = random.Random(1)
labels = [source.randrange(3) for _ in range(images)]
pixels = [source.gauss(float(color == label), 1.0)
          for label in labels for _ in range(size * size) for color in range(3)]
write("image.npy", (images, size, size, 3), "<f4", "f", pixels)
write("labels.npy", (images,), "<i4", "i", labels)
