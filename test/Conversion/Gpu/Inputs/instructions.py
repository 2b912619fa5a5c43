#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts, for each kernel of PTX on standard input, the instructions that make it fast
or slow: copies to shared memory of 16 bytes and of fewer, matrices loaded from there, as they
are and transposed, products of tensor cores by their type, approximate powers, atomics and
accesses of a stack."""

import re
import sys

KINDS = [("copies", r"cp\.async\.c[ag]\.shared\.global .*, 16"),
         ("small copies", r"cp\.async\.c[ag]\.shared\.global .*, [48]\b"),
         ("waits", r"cp\.async\.wait_group"),
         ("matrices", r"ldmatrix\.sync\.aligned\.m8n8\.x4\.shared"),
         ("transposed", r"ldmatrix\.sync\.aligned\.m8n8\.x4\.trans\.shared"),
         ("f16", r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16"),
         ("bf16", r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.bf16"),
         ("tf32", r"mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.tf32"),
         ("powers", r"ex2\.approx\.ftz\.f32"),
         ("loads of shared rows", r"ld\.shared\.v(4\.b32|2\.b64)"),
         ("stores of rows", r"st\.global\.v(4\.b32|2\.b64)"),
         ("atomics", r"\b(atom|red)\."),
         ("stack", r"\b(ld|st)\.local|\.local \.align")]

name, counts = None, {}


def show():
    if name:
        found = [f"{counts[kind]} {kind}" for kind, _ in KINDS if kind in counts]
        print(f"{name}: {', '.join(found)}")


for line in sys.stdin:
    if entry := re.search(r"\.entry (\w+)_[0-9a-f]{16}\(", line):
        show()
        name, counts = entry[1], {}
    for kind, pattern in KINDS:
        if re.search(pattern, line):
            counts[kind] = counts.get(kind, 0) + 1
show()
