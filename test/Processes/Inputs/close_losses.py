#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the losses of the steps that two files of --metrics have in common: close_losses.py MOST FILE FILE."""

import csv
import sys

most = float(sys.argv[1])
losses = []
for path in sys.argv[2:4]:
    with open(path, newline="") as file:
        losses.append([float(row["loss"]) for row in csv.DictReader(file)])
differences = [abs(a - b) for a, b in zip(*losses)]
if not differences or not max(differences) <= most:
    sys.exit(f"the losses differ by {differences}")
print(f"{len(differences)} losses are as close as {most:g}")
