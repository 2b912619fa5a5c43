"""Checks the Chrome trace of a ZB-V pipeline of 2 stages and 4 microbatches: lanes
of its two ranks with every F, B, W, send and recv once a step, none that overlap, in
an order that the data allow; and the times of waiting.

Usage: check_trace.py TRACE STEPS
"""

import collections
import json
import sys

MICROBATCHES = 4
RANK_OF_CHUNK = (0, 1, 1, 0)
# Edge e goes from chunk e to e + 1; that of the ranks' own two chunks is no message.
MESSAGES = (0, 2)


def read_lanes(path):
    """Events by process and rank."""
    lanes = collections.defaultdict(list)
    names = {}
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        place = event["pid"], event.get("tid")
        if event["name"] == "thread_name":
            names[place] = event["args"]["name"]
        elif event["ph"] == "X":
            lanes[place].append(event)
    assert names[0, 0] == "rank 0" and names[0, 1] == "rank 1", names
    assert set(lanes) == {(pid, rank) for pid in (0, 1) for rank in (0, 1)}, set(lanes)
    return lanes


def list_compute(rank):
    names = []
    for chunk in (c for c in range(4) if RANK_OF_CHUNK[c] == rank):
        # The first chunk has no input gradient: its W is its whole backward.
        kinds = ("F", "W") if chunk == 0 else ("F", "B", "W")
        names += [f"{kind} c{chunk} m{m}" for kind in kinds for m in range(MICROBATCHES)]
    return names


def list_messages(rank):
    names = []
    for edge in MESSAGES:
        is_source = RANK_OF_CHUNK[edge] == rank
        for m in range(MICROBATCHES):
            forward, backward = ("send", "recv") if is_source else ("recv", "send")
            names.append(f"{forward} activation e{edge} m{m}")
            names.append(f"{backward} gradient e{edge} m{m}")
    return names


def check_lane(events, rank, steps):
    ops = [e for e in events if e["cat"] not in ("idle", "update")]
    found = collections.Counter(e["name"] for e in ops)
    expected = collections.Counter(list_compute(rank) * steps + list_messages(rank) * steps)
    assert found == expected, (rank, found - expected, expected - found)
    times = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["cat"] != "idle")
    for (_, end), (begin, _) in zip(times, times[1:]):
        assert end <= begin + 1e-6, (rank, end, begin)


def check_order(lanes):
    """F, B, W of a chunk and microbatch in this order; a message is there after its
    source began to send it."""
    begins, ends = {}, {}
    for (pid, _), events in lanes.items():
        for event in events:
            if pid == 0 and event["cat"] not in ("idle", "update"):
                key = event["args"]["step"], event["name"]
                begins[key] = event["ts"]
                ends[key] = event["ts"] + event["dur"]
    pairs = 0
    for step, name in begins:
        kind, _, rest = name.partition(" ")
        earlier = {"B": "F", "W": "B", "recv": "send"}.get(kind)
        if kind == "W" and rest.startswith("c0"):
            earlier = "F"
        if not earlier:
            continue
        before = step, f"{earlier} {rest}"
        start = begins[before] if kind == "recv" else ends[before]
        here = ends[step, name] if kind == "recv" else begins[step, name]
        assert start <= here + 1e-6, (before, name, start, here)
        pairs += 1
    return pairs


def main():
    lanes = read_lanes(sys.argv[1])
    steps = int(sys.argv[2])
    for rank in (0, 1):
        check_lane(lanes[0, rank], rank, steps)
        predicted = sorted(e["name"] for e in lanes[1, rank])
        updates = {e["name"] for e in lanes[0, rank] if e["cat"] == "update"}
        assert updates, rank
        assert predicted == sorted([*list_compute(rank), *updates]), (rank, predicted)
    assert any(e["cat"] == "idle" for rank in (0, 1) for e in lanes[0, rank])
    print(f"{steps} steps of 2 ranks, {check_order(lanes)} pairs in order")


if __name__ == "__main__":
    main()
