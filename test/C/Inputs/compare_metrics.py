"""Usage: compare_metrics.py METRICS PRINTED

Whether losses and gradient norms of --metrics are, bit for bit, those that a program has printed: "step N loss L norm G".
"""

import csv
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    metrics = [(float(row["loss"]), float(row["gradient_norm"])) for row in csv.DictReader(file)]
with open(sys.argv[2], encoding="utf-8") as file:
    printed = [(float(words[3]), float(words[5])) for words in map(str.split, file) if words[:1] == ["step"]]
if metrics != printed or not metrics:
    sys.exit(f"{metrics}\nis not\n{printed}")
if not metrics[-1][0] < metrics[0][0]:
    sys.exit(f"nothing was learnt: {metrics}")
print(f"{len(metrics)} equal losses and norms")
