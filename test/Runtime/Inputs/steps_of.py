#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what a run has written about its steps.

Usage: steps_of.py TIMELINE.json | METRICS.csv PARAMETERS.safetensors

Of a timeline, that each rank has the same steps, one after the other, and prints them. Of
metrics and parameters, that both are of as many steps, and that the rows ascend from 1.
"""

import csv
import json
import struct
import sys


def check_timeline(path):
    with open(path) as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and e["pid"] == 0 and "op" in e["args"]]
    ranks = sorted({e["tid"] for e in events})
    steps = sorted({e["args"]["step"] for e in events})
    for rank in ranks:
        own = sorted((e for e in events if e["tid"] == rank), key=lambda e: e["ts"])
        # The next step runs what is late, or it runs alone after the last one.
        order = [(e["args"]["step"] + e["name"].endswith("'"), e["args"]["op"]) for e in own]
        assert order == sorted(order), f"rank {rank} has another order: {order}"
        assert sorted({e["args"]["step"] for e in own}) == steps, f"rank {rank} has other steps"
        # Times are printed in thousandths of a microsecond.
        assert all(a["ts"] + a["dur"] <= b["ts"] + 0.01 for a, b in zip(own, own[1:])), f"rank {rank} overlaps with itself"
    print("steps", *steps, "of ranks", *ranks)


def check_files(metrics, parameters):
    with open(metrics) as file:
        rows = [int(row["step"]) for row in csv.DictReader(file)]
    with open(parameters, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    assert rows == list(range(1, len(rows) + 1)), f"the rows are {rows}"
    assert int(header["__metadata__"]["steps"]) == len(rows), f"{header['__metadata__']} has not {len(rows)} steps"
    print("as many steps in both")


if __name__ == "__main__":
    check_timeline(*sys.argv[1:]) if len(sys.argv) == 2 else check_files(*sys.argv[1:])
