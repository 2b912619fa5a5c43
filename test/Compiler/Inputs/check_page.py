# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a timeline page has the operations of a Chrome trace of the same artifact.

Times of the prediction are the same; those of another run are not, so of what was measured names and steps are compared.
Memory is that of the plan, as `veeline inspect --json` has it, which also counts what lies between regions.

Usage: check_page.py PAGE TRACE PLAN, where PAGE is what page.py planned prints
"""

import json
import sys


def of_trace(events, process):
    """By rank and step, what runs, in the order of the program."""
    found = {}
    for event in events:
        if event["ph"] == "X" and event["pid"] == process and event["name"] != "idle":
            key = event["tid"], event["args"].get("step", 0)
            found.setdefault(key, []).append((event["args"]["op"], event["name"], event["ts"], event["ts"] + event["dur"]))
    return {key: sorted(ops) for key, ops in found.items()}


def live_bytes(rank):
    """What each operation finds in use."""
    regions = [(region["first_op"], region["last_op"], region["bytes"]) for region in rank["regions"]]
    return [sum(size for first, last, size in regions if first < 0 or (first <= op <= last if first <= last else not last < op < first))
            for op in range(len(rank["ops"]))]


def main():
    with open(sys.argv[1]) as file:
        page = json.load(file)
    with open(sys.argv[2]) as file:
        events = json.load(file)["traceEvents"]
    with open(sys.argv[3]) as file:
        plan = next(program for program in json.load(file)["programs"] if program["name"] == "pipeline")["ranks"]
    measured, predicted = of_trace(events, 0), of_trace(events, 1)
    ranks = len(page["predicted"])
    steps = {step for _, step in measured}
    for rank in range(ranks):
        expected = predicted[rank, 0]
        found = sorted(map(tuple, page["predicted"][rank]["0"]))
        assert len(found) == len(expected), (len(found), len(expected))
        for (op, name, begin, end), (other, other_name, ts, te) in zip(found, expected):
            assert (op, name) == (other, other_name) and abs(begin - ts) < 2e-3 and abs(end - te) < 2e-3, (name, begin, ts)
        for step in steps:
            names = [(op, name) for op, name, _, _ in sorted(map(tuple, page["measured"][rank][str(step)]))]
            assert names == [(op, name) for op, name, _, _ in measured[rank, step]], (rank, step)
        assert page["memory"][rank] == live_bytes(plan[rank])
        assert 0.95 * plan[rank]["peak_live_bytes"] < page["peaks"][rank] <= plan[rank]["peak_live_bytes"]
    print(f"{ranks} ranks with the events of {len(steps)} steps and of the prediction")


main()
