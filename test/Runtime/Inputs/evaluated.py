# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares evaluations after each step with the losses of training, on the same batch in all steps.

Usage: evaluated.py TRAIN.csv EVALUATED.csv

The loss of a step is that of the parameters after the step before, so the two have to be equal to the last bit of what
the files have, the shortest text that reads back as the number; metrics, too.
"""

import csv
import sys


def rows(path, names=None):
    with open(path, encoding="utf-8") as file:
        return {int(row["step"]): [row[name] for name in names or row if name != "step"] for row in csv.DictReader(file)}


with open(sys.argv[2], encoding="utf-8") as file:
    results = [name for name in next(csv.reader(file)) if name != "step"]
trained, evaluated = rows(sys.argv[1], results), rows(sys.argv[2])
compared = 0
for step in evaluated:
    if step + 1 in trained:
        compared += 1
        if trained[step + 1] != evaluated[step]:
            sys.exit(f"after step {step} {results} are {evaluated[step]}, and training computes {trained[step + 1]}")
print(f"{compared} evaluations of {', '.join(results)} have the bits of training")
