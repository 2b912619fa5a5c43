#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command until it has printed a step, and prints how many bells each of its processes of one name has.

Usage: bells.py NAME COMMAND ARGUMENT ...
"""

import os
import signal
import subprocess
import sys
import uuid


def processes(name, mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file, open(f"/proc/{pid}/comm") as comm:
                if mark.encode() in file.read() and comm.read().strip() == name:
                    yield pid
        except OSError:
            pass  # It has ended, or is another user's.


def bells(pid):
    with open(f"/proc/{pid}/maps") as file:
        return {line.split()[4] for line in file if "/memfd:veeline-bell" in line}


name, command = sys.argv[1], sys.argv[2:]
mark = f"VEELINE_TEST={uuid.uuid4()}"
environment = {**os.environ, **dict([mark.split("=")])}
run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
for line in run.stdout:
    if "step " in line:
        break
found = [bells(pid) for pid in processes(name, mark)]
print(f"{len(found)} processes have {len(set.union(*found))} bells, each of them {sorted(set(map(len, found)))}")
os.killpg(run.pid, signal.SIGTERM)
run.stdout.read()
run.wait()
