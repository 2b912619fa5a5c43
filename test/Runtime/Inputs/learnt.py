"""Succeeds where the losses of a CSV file of metrics fall by a half."""

import csv
import sys

with open(sys.argv[1], newline="") as file:
    losses = [float(row["loss"]) for row in csv.DictReader(file)]
sys.exit(0 if losses[-1] < losses[0] / 2 else f"losses go from {losses[0]} to {losses[-1]}")
