"""Checks what --trace-tensors printed: that what arrives is what was sent, and that the
norms of gradients are parts of the norm in the metrics, a CSV file.

Usage: check_trace.py TRACE METRICS [REPLICAS]: all of which have the same gradients.
"""

import collections
import csv
import math
import re
import sys

sent, received = collections.Counter(), collections.Counter()
squares = collections.defaultdict(float)
for line in open(sys.argv[1]):
    message = re.match(r"\[Rank \d+\] step (\d+): (sending|received) (.*)", line)
    if message:
        (sent if message[2] == "sending" else received)[message[1], message[3]] += 1
    gradient = re.match(r"\[Rank \d+\] step (\d+): gradient of \S+: shape=.*, norm=(.*)", line)
    if gradient:
        squares[int(gradient[1])] += float(gradient[2]) ** 2
assert sent == received, (sent - received, received - sent)
replicas = int(sys.argv[3]) if len(sys.argv) > 3 else 1
steps = list(csv.DictReader(open(sys.argv[2])))
print(f"{len(steps)} steps, {sum(sent.values())} messages arrive as they are sent")
for row in steps:
    norm = float(next(row[key] for key in row if "grad" in key))
    assert math.isclose(math.sqrt(squares[int(row["step"])] / replicas), norm, rel_tol=1e-4), (row, squares)
print("gradient norms agree")
