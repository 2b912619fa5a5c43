"""Usage: loss_weight.py ARTIFACT

Trains three steps on the same values, of which a mask leaves out some, prints each step, and writes the values as x.npy and mask.npy.
"""

import array
import struct
import sys

import veeline

STEPS, VALUES = 3, 16
x = array.array("f", [(7 * i % 11 - 5) / 4 for i in range(VALUES)])
mask = array.array("f", [0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0])
for name, values in (("x", x), ("mask", mask)):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({STEPS * VALUES},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(f"{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + STEPS * values.tobytes())
with veeline.Trainer(sys.argv[1], lr=1e-2) as trainer:
    print(", ".join(trainer.batches))
    for step in range(1, STEPS + 1):
        loss = trainer.step({"x": x, "mask": mask})
        print(f"step {step} loss {loss!r} norm {trainer.gradient_norm!r}")
