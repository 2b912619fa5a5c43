#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command until it has printed a step, and prints how many bells each of its processes of one name has.

Usage: bells.py NAME COMMAND ARGUMENT ...
"""

import sys

import until_a_step


def bells(pid):
    with open(f"/proc/{pid}/maps") as file:
        return {line.split()[4] for line in file if "/memfd:veeline-bell" in line}


with until_a_step.processes(sys.argv[1], sys.argv[2:]) as pids:
    found = [bells(pid) for pid in pids]
print(f"{len(found)} processes have {len(set.union(*found))} bells, each of them {sorted(set(map(len, found)))}")
