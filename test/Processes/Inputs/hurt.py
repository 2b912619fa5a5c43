#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Becomes the rank of mpirun that a command is; a child sends that one of `RANK` a signal.

Usage: hurt.py SIGNAL RANK COMMAND ARGUMENT ...

The signal comes when rank 0 has printed its first step, so when all have met, however long
that takes. A rank that is stopped is killed later, as mpirun itself waits for it.
"""

import contextlib
import os
import signal
import socket
import sys
import time

# Of one run of mpirun, which is the parent of its ranks. Nothing is left of this name.
PLACE = f"\0veeline-hurt-{os.getppid()}"


def tell_first_step():
    """From here on a child prints what this process does, and tells when there is a step."""
    source, target = os.pipe()
    if os.fork() > 0:
        os.dup2(target, sys.stdout.fileno())
        os.close(source)
        os.close(target)
        return
    os.close(target)
    is_told = False
    with os.fdopen(source, "rb") as lines:
        for line in lines:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            if b"step " in line and not is_told:
                is_told = True
                with contextlib.suppress(OSError):  # It has ended meanwhile.
                    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"", PLACE)
    os._exit(0)


def is_alive(process):
    return os.path.exists(f"/proc/{process}")


def await_first_step(place, target):
    """False where the process has ended before."""
    place.settimeout(0.1)
    while is_alive(target):
        try:
            place.recv(1)
            return True
        except TimeoutError:
            pass
    return False


def hurt(name):
    """A child sends the signal."""
    target, place = os.getpid(), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    place.bind(PLACE)
    if os.fork() > 0:
        return
    os.setsid()
    if await_first_step(place, target):
        os.kill(target, getattr(signal, "SIG" + name))
    deadline = time.monotonic() + 6
    while name == "STOP" and is_alive(target):
        if time.monotonic() > deadline:
            os.kill(target, signal.SIGKILL)
        time.sleep(0.05)
    os._exit(0)


name, victim, command = sys.argv[1], sys.argv[2], sys.argv[3:]
if os.environ["OMPI_COMM_WORLD_RANK"] == victim:
    hurt(name)
if os.environ["OMPI_COMM_WORLD_RANK"] == "0":
    tell_first_step()
os.execvp(command[0], command)
