# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs commands until they have printed a step."""

import contextlib
import os
import signal
import subprocess
import uuid


def find(name, mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file, open(f"/proc/{pid}/comm") as comm:
                if mark.encode() in file.read() and comm.read().strip() == name:
                    yield pid
        except OSError:
            pass  # It has ended, or is another user's.


@contextlib.contextmanager
def processes(name, command):
    """The numbers of the command's processes of that name, which are ended afterwards."""
    mark = f"VEELINE_TEST={uuid.uuid4()}"
    environment = {**os.environ, **dict([mark.split("=")])}
    run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    for line in run.stdout:
        if "step " in line:
            break
    try:
        yield list(find(name, mark))
    finally:
        os.killpg(run.pid, signal.SIGTERM)
        run.stdout.read()
        run.wait()
