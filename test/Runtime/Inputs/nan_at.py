"""Writes x.npy and b0.npy, b1.npy, b2.npy for steps of 3 microbatches of 2 rows. Every other step has a zero in one microbatch
of one of the b: its gradient is NaN on that stage alone. With --check METRICS: whether just these steps changed nothing."""

import csv
import random
import sys

import npy

STAGES = MICROBATCHES = 3
STEPS = 2 * STAGES * MICROBATCHES

if sys.argv[1:2] == ["--check"]:
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        skipped = [row["step"] for row in csv.DictReader(file) if float(row["clip_factor"]) == 0]
    assert skipped == [str(step) for step in range(1, STEPS + 1, 2)], skipped
    print(f"{len(skipped)} of {STEPS} steps changed nothing")
    sys.exit()

number = random.Random(9)
rows = STEPS * MICROBATCHES * 2
arrays = {name: [[number.uniform(0.5, 1) for _ in range(4)] for _ in range(rows)] for name in ("x", "b0", "b1", "b2")}
for i in range(STAGES * MICROBATCHES):
    stage, microbatch = divmod(i, MICROBATCHES)
    arrays[f"b{stage}"][(2 * i * MICROBATCHES + microbatch) * 2 + 1][2] = 0
for name, array in arrays.items():
    npy.write(f"{name}.npy", "f32", (rows, 4), [value for row in array for value in row])
