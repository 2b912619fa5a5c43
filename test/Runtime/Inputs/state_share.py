# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what --check-memory says of the optimiser's state.

Usage: state_share.py WHOLE SHARED COUNT FACTOR: whether each rank has at most FACTOR/COUNT of it.
"""

import re
import sys


def states(path):
    with open(path, encoding="utf-8") as file:
        return [int(number) for number in re.search(r"^state of .*, by rank: ([\d, ]+) bytes", file.read(), re.MULTILINE)[1].split(", ")]


whole, shared = states(sys.argv[1]), states(sys.argv[2])
count, factor = int(sys.argv[3]), float(sys.argv[4])
good = [i for i, (a, b) in enumerate(zip(whole, shared, strict=True)) if a / count <= b <= factor * a / count]
if len(good) != len(whole):
    sys.exit(f"{whole} became {shared}")
print(f"{len(good)} ranks have at most {factor}/{count} of the state")
