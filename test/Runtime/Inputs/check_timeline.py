"""Checks a Chrome trace of two_ranks: one lane per rank, every op of every
step once, none that overlap, waits named idle, the time of matrix products in the
ops that have any; predicted times in a process of their own."""

import collections
import json
import sys

trace = json.load(open(sys.argv[1]))
steps = int(sys.argv[2])
lanes = {}
measured = collections.defaultdict(list)
predicted = []
for event in trace["traceEvents"]:
    if event["name"] == "thread_name":
        lanes[event["pid"], event["tid"]] = event["args"]["name"]
    elif event["ph"] == "X" and event["pid"] == 0:
        assert event["dur"] >= 0 and event["ts"] >= 0, event
        measured[event["tid"]].append(event)
    elif event["ph"] == "X":
        predicted.append(event["name"])
assert lanes[0, 0] == "rank 0" and lanes[0, 1] == "rank 1", lanes

expected = collections.Counter()
for microbatch in range(4):
    for rank, chunk in ((0, 0), (1, 1)):
        expected[rank, f"F c{chunk} m{microbatch}"] = steps
        expected[rank, f"BW c{chunk} m{microbatch}"] = steps
    for rank, channel in ((0, "activation"), (1, "gradient")):
        expected[rank, f"send {channel} e0 m{microbatch}"] = steps
        expected[1 - rank, f"recv {channel} e0 m{microbatch}"] = steps
for rank in (0, 1):
    expected[rank, f"update p{rank}"] = steps
found = collections.Counter(
    (rank, event["name"])
    for rank, events in measured.items()
    for event in events
    if event["name"] != "idle"
)
assert found == expected, (found - expected, expected - found)

for events in measured.values():
    ops = sorted((e["ts"], e["dur"]) for e in events if e["name"] != "idle")
    for (begin, duration), (following, _) in zip(ops, ops[1:]):
        assert begin + duration <= following + 1e-6
with_products = set()
for events in measured.values():
    for event in events:
        if "gemm_us" in event["args"]:
            assert 0 < event["args"]["gemm_us"] <= event["dur"] + 1e-6, event
            with_products.add(event["name"])
assert with_products == {f"{kind} c1 m{i}" for kind in ("F", "BW") for i in range(4)}
assert any(e["name"] == "idle" for events in measured.values() for e in events)
assert sorted(set(predicted)) == sorted(
    f"{kind} c{chunk} m{i}" for kind in ("F", "BW") for chunk in (0, 1) for i in range(4)
)
