"""Writes traces with one mistake each: PREFIX.{crossing,late,open,text}.json.

Usage: break_trace.py TRACE PREFIX
"""

import copy
import json
import sys


def cross(events):
    """The first slice goes on until the middle of the third."""
    slices = [e for e in events if e["ph"] == "X" and e["tid"] == 0]
    slices[0]["dur"] = slices[2]["ts"] + slices[2]["dur"] / 2


def delay(events):
    """A value leaves when its F has ended and another microbatch's has begun."""
    begin = next(e for e in events if e["ph"] == "s" and e["tid"] == 0)
    first = next(e for e in events if e["ph"] == "X" and e["tid"] == 0)
    assert first["ts"] <= begin["ts"] < first["ts"] + first["dur"]
    begin["ts"] = first["ts"] + first["dur"]


def leave_open(events):
    events.remove(next(e for e in events if e["ph"] == "f"))


def quote(events):
    event = next(e for e in events if e["ph"] == "C")
    event["ts"] = str(event["ts"])


def main():
    with open(sys.argv[1]) as file:
        trace = json.load(file)
    for name, change in (("crossing", cross), ("late", delay), ("open", leave_open), ("text", quote)):
        broken = copy.deepcopy(trace)
        change(broken["traceEvents"])
        with open(f"{sys.argv[2]}.{name}.json", "w") as file:
            json.dump(broken, file)


main()
