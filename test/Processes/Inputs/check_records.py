#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the flight records of ranks: PREFIX RANK ...

Prints for each what its text ends with, in short, if the trace has the same events, of that rank
and of two steps at most; else what is wrong.
"""

import json
import re
import sys


def read(prefix, rank):
    with open(f"{prefix}.rank{rank}.txt") as file:
        lines = file.read().splitlines()
    with open(f"{prefix}.rank{rank}.trace.json") as file:
        trace = json.load(file)["traceEvents"]
    return lines, [event for event in trace if event["ph"] == "X" and event["pid"] == 0]


def describe(prefix, rank):
    lines, events = read(prefix, rank)
    names = [line.split("  ")[-1] for line in lines[1:] if re.match(r" *\d+ +[\d.]+ +[\d.]+  ", line)]
    if not names or [event["name"] for event in events] != names:
        return "text and trace differ"
    if {event["tid"] for event in events} != {rank} or len({e["args"]["step"] for e in events if "step" in e["args"]}) > 2:
        return "the trace is not of the last two steps of this rank"
    short = re.search(r"is gone|has not answered for [\d.]+ s|arrived, expected|is not the one that is expected|"
                      r"all ranks have to read the same lengths|deadlock|cannot write|the loss of a microbatch",
                      re.sub(r"microbatch \d+", "a microbatch", lines[-1]))
    return short[0] if short else lines[-1]


prefix, *ranks = sys.argv[1:]
for rank in map(int, ranks):
    print(f"rank {rank}: {describe(prefix, rank)}")
