#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command until it has printed a step, and prints at which addresses its processes of one name listen.

Usage: listening.py NAME COMMAND ARGUMENT ...
"""

import os
import signal
import subprocess
import sys
import uuid

LISTEN = "0A"


def processes(name, mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file, open(f"/proc/{pid}/comm") as comm:
                if mark.encode() in file.read() and comm.read().strip() == name:
                    yield pid
        except OSError:
            pass  # It has ended, or is another user's.


def sockets(pid):
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            yield os.readlink(f"/proc/{pid}/fd/{descriptor}")
        except OSError:
            pass


def listeners():
    """Addresses by socket, as the system's tables write them."""
    found = {}
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as file:
            for line in list(file)[1:]:
                fields = line.split()
                if fields[3] == LISTEN:
                    found[f"socket:[{fields[9]}]"] = fields[1].split(":")[0]
    return found


name, command = sys.argv[1], sys.argv[2:]
mark = f"VEELINE_TEST={uuid.uuid4()}"
environment = {**os.environ, **dict([mark.split("=")])}
run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
for line in run.stdout:
    if "step " in line:
        break
pids, table = list(processes(name, mark)), listeners()
addresses = {table[socket] for pid in pids for socket in sockets(pid) if socket in table}
print(f"{len(pids)} processes listen at {', '.join(sorted(addresses)) or 'no address'}")
os.killpg(run.pid, signal.SIGTERM)
run.stdout.read()
run.wait()
