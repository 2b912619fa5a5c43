#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs mpirun, sends it a signal, or several, in the second step of the ranks, and prints its exit code.

Usage: interrupt.py SIGNAL,... COMMAND ARGUMENT ...
"""

import signal
import subprocess
import sys
import time

name, command = sys.argv[1], sys.argv[2:]
if "timeout" in command:  # It keeps the signal from mpirun.
    at = command.index("timeout")
    del command[at:at + 2]
# What starts this may ignore the signal, as shells do for what runs in the background.
run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
for line in run.stdout:
    sys.stdout.write(line)
    if "step " in line:
        break
time.sleep(0.3)
for each in name.split(","):
    run.send_signal(getattr(signal, "SIG" + each))
    time.sleep(0.3)
sys.stdout.write(run.stdout.read())
print(f"exit {run.wait()}")
