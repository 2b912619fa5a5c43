"""Compares the losses that two programs print: equal but for roundings, and less in the end."""

import sys


def losses(path):
    return [float(line.split()[-1]) for line in open(path, encoding="utf-8")]


one, other = losses(sys.argv[1]), losses(sys.argv[2])
if len(one) != len(other) or not all(abs(a - b) <= 1e-5 * abs(a) for a, b in zip(one, other)):
    sys.exit(f"{one}\nare not\n{other}")
if not one[-1] < 0.9 * one[0]:
    sys.exit(f"nothing was learnt: {one}")
print(f"{len(one)} equal losses, from {one[0]} down to {one[-1]}")
