#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command, and prints what it leaves behind: processes, files, shared memory, sockets.

Usage: clean.py [--wait SECONDS] COMMAND ARGUMENT ...

What is there at the end has 30 seconds to go, or as many as --wait says.

The ranks meet at a port of this script's choice. A process of the command is known by a
variable of its environment, wherever it has gone; temporary files and Open MPI's shared
memory are in a directory of their own. The exit code is that of the command.
"""

import os
import subprocess
import sys
import tempfile
import time
import uuid

from launch import free_port

LISTEN, ESTABLISHED = "0A", "01"


def processes_with(mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() in file.read():
                    yield int(pid)
        except OSError:
            pass  # It has ended, or is another user's.


def sockets_at(port):
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as file:
            for line in list(file)[1:]:
                _, local, remote, state = line.split()[:4]
                at = {int(end.split(":")[1], 16) for end in (local, remote)}
                if port in at and state in (LISTEN, ESTABLISHED):
                    yield line.strip()


def shared_memory():
    names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in names if "veeline" in name}


def find_remains(mark, port, folder, before):
    remains = [f"process {pid}" for pid in processes_with(mark)]
    remains += [f"socket {line}" for line in sockets_at(port)]
    remains += [f"file {os.path.join(path, name)}" for path, _, names in os.walk(folder) for name in names]
    return remains + [f"shared memory {name}" for name in shared_memory() - before]


def main():
    command, patience = sys.argv[1:], 30
    if command[0] == "--wait":
        patience, command = float(command[1]), command[2:]
    port, mark, before = free_port(), f"VEELINE_TEST={uuid.uuid4()}", shared_memory()
    with tempfile.TemporaryDirectory() as folder:
        variables = {"MASTER_PORT": str(port), "TMPDIR": folder, "OMPI_MCA_orte_tmpdir_base": folder,
                     "OMPI_MCA_btl_vader_backing_directory": folder, **dict([mark.split("=")])}
        code = subprocess.run(command, env={**os.environ, **variables}, stderr=subprocess.STDOUT).returncode
        # Whom mpirun has killed it does not wait for, and a busy machine takes its time to end it.
        deadline = time.monotonic() + patience
        while (remains := find_remains(mark, port, folder, before)) and time.monotonic() < deadline:
            if all(line.startswith("file ") for line in remains):
                # Nobody is left who could delete them.
                break
            time.sleep(0.05)
    print("\n".join(remains or ["nothing is left"]))
    sys.exit(code)


if __name__ == "__main__":
    main()
