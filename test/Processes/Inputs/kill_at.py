#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills one of three ranks of a run at each kind of operation, and checks how the others end.

Usage: kill_at.py ARTIFACT KILL_LIBRARY COMMAND ARGUMENT ...

For each kind it prints how many ranks ended as they have to: with exit code 1, within
the timeout, with a message that names the victim; and what each of them was at.
"""

import json
import os
import re
import subprocess
import sys
import time

artifact, library, command = sys.argv[1], sys.argv[2], sys.argv[3:]
launch = [sys.executable, os.path.join(os.path.dirname(__file__), "launch.py")]
victim = 1
step = 3
metadata = json.loads(subprocess.run(["veeline", "inspect", artifact, "--json"], capture_output=True, check=True).stdout)
program = next(p for p in metadata["programs"] if p["name"] == "pipeline")
ops = program["ranks"][victim]["ops"]


def find(kind, key=None):
    """The middle operation of this kind: its number, or what it names."""
    numbers = [i for i, op in enumerate(ops) if op["kind"] == kind]
    number = numbers[len(numbers) // 2]
    return ops[number][key] if key else number


points = [(kind, "veeline_op_end", find(kind)) for kind in ("F", "B", "W", "send", "recv", "update")
          if any(op["kind"] == kind for op in ops)]
points += [
    ("before a send", "veeline_send_acquire", find("send", "channel")),
    ("in a send", "veeline_send_commit", find("send", "channel")),
    ("at a post", "veeline_recv_post", find("recv", "channel")),
    ("at a wait", "veeline_recv_wait", find("recv", "channel")),
    ("at an update", "veeline_update", 0),
]
for name, function, index in points:
    settings = [f"{victim}:LD_PRELOAD={library}", f"{victim}:KILL_AT={function}:{index}:{step}"]
    begin = time.monotonic()
    run = subprocess.run([*launch, *(f"--environment={s}" for s in settings), "--within=20", "3", *command],
                         capture_output=True, text=True)
    ends = dict(re.findall(r"^rank (\d): (.*)$", run.stdout, re.MULTILINE))
    good = sum(ends.get(str(rank), "").startswith("exit 1: veeline: error: ") and f"rank {victim} is gone" in ends[str(rank)]
               and (f"; rank {rank} is at " in ends[str(rank)] or "before step" in ends[str(rank)]
                    or re.search(r"error: step \d+: rank", ends[str(rank)]) is not None)
               for rank in (0, 2))
    killed = ends.get(str(victim)) == "exit -9"
    print(f"{name}: killed {killed}, {good} of 2 others say so")
    for rank in (0, 2):
        print(f"  {ends.get(str(rank))}")
    if time.monotonic() - begin > 15:
        print("  took too long")
