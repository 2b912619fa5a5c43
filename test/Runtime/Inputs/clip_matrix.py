"""clip_matrix.py BARRIER OPTIMISTIC ROWS: artifacts of examples/mlp, which train on ROWS rows.

Trains both with all sorts of limits, on data with and without NaN, whether steps follow one
another or wait, and compares metrics and parameters bit for bit. Prints how many steps were
clipped and skipped.
"""

import csv
import pathlib
import random
import struct
import subprocess
import sys

import npy

STEPS = 6
LIMITS = {
    "never": ["--clip-norm", "1e6"],
    "sometimes": ["--clip-norm", "0.35"],
    "always": ["--clip-norm", "1e-3"],
    "skip": ["--skip-nonfinite"],
    "both": ["--skip-nonfinite", "--clip-norm", "0.12", "--clip-value", "0.1"],
}


def write_data(rows):
    """In one file steps 2, 3 and 6 have a row of NaN, in a microbatch each."""
    number = random.Random(5)
    of_step = rows // STEPS
    values = [[number.uniform(-1, 1) for _ in range(4)] for _ in range(rows)]
    targets = [number.uniform(-1, 1) for _ in range(2 * rows)]
    npy.write("y.npy", "f32", (rows, 2), targets)
    for name, bad in (("clean", ()), ("nan", ((1, 0.3), (2, 0.9), (5, 0)))):
        damaged = [list(row) for row in values]
        for step, part in bad:
            damaged[step * of_step + int(part * of_step)] = [float("nan")] * 4
        npy.write(f"{name}.npy", "f32", (rows, 4), [number for row in damaged for number in row])


def train(artifact, data, options):
    command = ["veeline", "train", artifact, "--steps", str(STEPS), "--lr", "0.05", "--seed", "3"]
    command += ["--data", f"x={data}.npy", "--data", "y=y.npy", "--metrics", "m.csv", "--save", "m.st"]
    subprocess.run(command + options, check=True, stdout=subprocess.DEVNULL)
    with open("m.csv", encoding="utf-8", newline="") as file:
        rows = [row[:5] for row in csv.reader(file)]
    parameters = pathlib.Path("m.st").read_bytes()
    (size,) = struct.unpack("<Q", parameters[:8])
    return rows, parameters[8 + size :]


def main():
    barrier, optimistic, rows = sys.argv[1:4]
    write_data(int(rows))
    runs = clipped = skipped = 0
    for data in ("clean", "nan"):
        for name, limit in LIMITS.items():
            if data == "nan" and "--skip-nonfinite" not in limit:
                continue
            expected = train(barrier, data, limit)
            factors = [float(row[4]) for row in expected[0][1:]]
            assert len(factors) == STEPS
            clipped += sum(0 < factor < 1 for factor in factors)
            skipped += sum(factor == 0 for factor in factors)
            for flight in ("1", "2"):
                found = train(optimistic, data, limit + ["--steps-in-flight", flight])
                for a, b in zip(expected[0], found[0]):
                    if a != b:
                        sys.exit(f"{data}, {name}, {flight} in flight: {b}, expected {a}")
                if found[1] != expected[1]:
                    sys.exit(f"{data}, {name}, {flight} in flight: other parameters")
                runs += 1
    print(f"{runs} runs are equal; of the steps {clipped} were clipped and {skipped} skipped")


if __name__ == "__main__":
    main()
