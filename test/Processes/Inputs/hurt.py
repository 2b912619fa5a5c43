#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Becomes the rank of mpirun that a command is; a child sends that one of `RANK` a signal.

Usage: hurt.py SIGNAL RANK COMMAND ARGUMENT ...

The signal comes a second after the start. A rank that is stopped is killed later, as
mpirun itself waits for it.
"""

import os
import signal
import sys
import time

name, victim, command = sys.argv[1], sys.argv[2], sys.argv[3:]
if os.environ["OMPI_COMM_WORLD_RANK"] == victim:
    target = os.getpid()
    if os.fork() == 0:
        os.setsid()
        time.sleep(1)
        os.kill(target, getattr(signal, "SIG" + name))
        deadline = time.monotonic() + 6
        while name == "STOP" and os.path.exists(f"/proc/{target}"):
            if time.monotonic() > deadline:
                os.kill(target, signal.SIGKILL)
            time.sleep(0.05)
        os._exit(0)
os.execvp(command[0], command)
