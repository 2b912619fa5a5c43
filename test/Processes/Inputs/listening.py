#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command until it has printed a step, and prints at which addresses its processes of one name listen.

Usage: listening.py NAME COMMAND ARGUMENT ...
"""

import os
import sys

import until_a_step

LISTEN = "0A"


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


with until_a_step.processes(sys.argv[1], sys.argv[2:]) as pids:
    table = listeners()
    addresses = {table[socket] for pid in pids for socket in sockets(pid) if socket in table}
print(f"{len(pids)} processes listen at {', '.join(sorted(addresses)) or 'no address'}")
