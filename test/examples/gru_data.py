#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes x.npy and y.npy for a GRU: random sequences, and what a leaky sum of them gives.

Arguments: SEQUENCES STEPS INPUTS OUTPUTS
"""

import math
import random
import struct
import sys


def write(path, shape, numbers):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}f", *numbers))


sequences, steps, inputs, outputs = map(int, sys.argv[1:5])
source = random.Random(1)
weight = [[source.gauss(0.0, 0.3) for _ in range(outputs)] for _ in range(inputs)]
x, y = [], []
for _ in range(sequences):
    total = [0.0] * outputs
    for _ in range(steps):
        row = [source.gauss(0.0, 1.0) for _ in range(inputs)]
        total = [0.8 * old + sum(a * w[column] for a, w in zip(row, weight))
                 for column, old in enumerate(total)]
        x += row
        y += [math.tanh(value) for value in total]
write("x.npy", (sequences, steps, inputs), x)
write("y.npy", (sequences, steps, outputs), y)
