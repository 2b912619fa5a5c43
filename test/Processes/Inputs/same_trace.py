#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what --trace-tensors printed as threads, and as processes, each of which has a file.

Usage: same_trace.py THREADS RANK0 RANK1 ...
"""

import sys


def lines_of(path, rank):
    with open(path) as file:
        return [line for line in file if line.startswith(f"[Rank {rank}]" if rank is not None else "[Rank")]


threads, *paths = sys.argv[1:]
for rank, path in enumerate(paths):
    expected, found = lines_of(threads, rank), lines_of(path, None)
    if not expected or found != expected:
        differing = next((pair for pair in zip(expected, found) if pair[0] != pair[1]), (len(expected), len(found)))
        sys.exit(f"rank {rank} says something else: {differing}")
print(f"{len(paths)} ranks say the same")
