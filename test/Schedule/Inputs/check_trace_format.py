"""Checks that a file is what the documentation of Chrome's trace events says, as far as
we write them: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

- every event has a known phase, and the members of that phase with their types;
- the slices of a thread nest or follow each other, they do not cross;
- every flow begins once and ends once, not earlier, each time within a slice.

Usage: check_trace_format.py TRACE

Prints how many events of each phase there are. A flow between slices that both name a
microbatch is between slices of the same one.
"""

import collections
import json
import math
import sys

NUMBERS = (int, float)
METADATA = {
    "process_name": ("name", str),
    "process_labels": ("labels", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}


def require(condition, message, event):
    if not condition:
        sys.exit(f"{message}: {json.dumps(event)}")


def is_number(value):
    return type(value) in NUMBERS and math.isfinite(value)


def check_members(event):
    phase = event.get("ph")
    require(phase in ("X", "M", "C", "s", "f"), "unknown phase", event)
    members = [("name", str), ("pid", int)]
    if event.get("name") not in ("process_name", "process_labels", "process_sort_index"):
        members.append(("tid", int))
    for name, kind in members:
        require(type(event.get(name)) is kind, f"'{name}' is missing or has another type", event)
    require(type(event.get("args", {})) is dict, "'args' is no object", event)
    require(type(event.get("cat", "")) is str, "'cat' is no string", event)
    if phase == "M":
        member, kind = METADATA.get(event["name"], (None, None))
        require(member, "unknown metadata", event)
        require(type(event.get("args", {}).get(member)) is kind, f"'{member}' is missing", event)
        return
    require(is_number(event.get("ts")) and event["ts"] >= 0, "'ts' is no time", event)
    if phase == "X":
        require(is_number(event.get("dur")) and event["dur"] >= 0, "'dur' is no time", event)
    if phase == "C":
        values = event.get("args", {}).values()
        require(values and all(map(is_number, values)), "no numbers to count", event)
    if phase in "sf":
        require(type(event.get("id")) in (int, str), "'id' is missing", event)
        require(event.get("cat"), "'cat' is missing", event)


def check_nesting(slices, tolerance):
    """`slices` are those of one thread."""
    open_ends = []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        begin, end = event["ts"], event["ts"] + event["dur"]
        while open_ends and open_ends[-1] <= begin + tolerance:
            open_ends.pop()
        crosses = open_ends and end > open_ends[-1] + tolerance
        require(not crosses, "crosses the slice in which it begins", event)
        open_ends.append(end)


def microbatches_at(slices, time):
    """Those of the slices that run then."""
    running = [
        e for e in slices if e["ts"] <= time and (time < e["ts"] + e["dur"] or e["dur"] == 0)
    ]
    return running, {e.get("args", {}).get("microbatch") for e in running}


def check_flow(events, threads):
    require(len(events) == 2, f"a flow of {len(events)} events", events[0])
    begin, end = sorted(events, key=lambda e: e["ph"], reverse=True)
    require((begin["ph"], end["ph"]) == ("s", "f"), "a flow without a begin or an end", begin)
    require(begin["ts"] <= end["ts"], "a flow that ends before it begins", begin)
    require(end.get("bp") == "e", "ends in the next slice, not in this one", end)
    found = []
    for event in (begin, end):
        running, microbatches = microbatches_at(threads[event["pid"], event["tid"]], event["ts"])
        require(running, "no slice at this time", event)
        found.append(microbatches)
    require(found[0] & found[1], "a flow between other microbatches", begin)


def main():
    with open(sys.argv[1]) as file:
        trace = json.load(file)
    assert trace.get("displayTimeUnit", "ms") in ("ms", "ns"), trace["displayTimeUnit"]
    events = trace["traceEvents"]
    threads = collections.defaultdict(list)
    flows = collections.defaultdict(list)
    for event in events:
        check_members(event)
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(event)
        if event["ph"] in "sf":
            flows[event["cat"], event["name"], event["id"]].append(event)
    last = max((e["ts"] + e.get("dur", 0) for e in events if "ts" in e), default=0)
    for slices in threads.values():
        check_nesting(slices, tolerance=1e-9 * last)
    for flow in flows.values():
        check_flow(flow, threads)
    count = collections.Counter(e["ph"] for e in events)
    print(*(f"{phase}: {count[phase]}" for phase in "XMCsf"))


main()
