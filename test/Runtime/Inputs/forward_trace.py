# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the timeline of an evaluation has forwards, messages and nothing else that ranks do.

Usage: forward_trace.py TRACE STEPS FORWARDS, where a step has so many.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    names = [event["name"] for event in json.load(file)["traceEvents"] if event["ph"] == "X" and event["pid"] == 0]
others = {name.split()[0] for name in names} - {"F", "send", "recv", "idle"}
forwards = sum(name.startswith("F ") for name in names)
if others or forwards != int(sys.argv[2]) * int(sys.argv[3]):
    sys.exit(f"{forwards} forwards, and {sorted(others)}")
print(f"{forwards} forwards, their messages and idle times")
