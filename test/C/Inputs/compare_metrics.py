"""Usage: compare_metrics.py METRICS PRINTED

Whether the columns of --metrics are, bit for bit, what a program has printed: "step N loss L norm G", and "rate R factor F" behind it or not.
"""

import csv
import sys

COLUMNS = {"loss": "loss", "norm": "gradient_norm", "rate": "learning_rate", "factor": "clip_factor"}
with open(sys.argv[2], encoding="utf-8") as file:
    rows = [words[2:] for words in map(str.split, file) if words[:1] == ["step"]]
if not rows:
    sys.exit("no step is printed")
names = rows[0][::2]
printed = [[float(word) for word in row[1::2]] for row in rows]
with open(sys.argv[1], encoding="utf-8") as file:
    metrics = [[float(row[COLUMNS[name]]) for name in names] for row in csv.DictReader(file)]
if metrics != printed:
    sys.exit(f"{metrics}\nis not\n{printed}")
if not metrics[-1][0] < metrics[0][0]:
    sys.exit(f"nothing was learnt: {metrics}")
plurals = ["losses", *(f"{name}s" for name in names[1:])]
print(f"{len(metrics)} equal {', '.join(plurals[:-1])} and {plurals[-1]}")
