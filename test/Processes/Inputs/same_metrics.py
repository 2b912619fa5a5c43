#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two files of --metrics in every column that is not a time."""

import csv
import sys

rows = []
for path in sys.argv[1:3]:
    with open(path, newline="") as file:
        rows.append([{k: v for k, v in row.items() if k not in ("seconds", "samples_per_second", "tokens_per_second")}
                     for row in csv.DictReader(file)])
if not rows[0] or rows[0] != rows[1]:
    sys.exit(f"the metrics differ:\n{rows[0]}\n{rows[1]}")
print(f"{len(rows[0])} steps are the same")
