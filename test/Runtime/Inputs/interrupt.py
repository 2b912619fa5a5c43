"""Runs a command, sends it SIGINT so many times once it has printed a line, and
prints its output and exit status."""

import signal
import subprocess
import sys
import time

times = int(sys.argv[1])
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
first = process.stdout.readline()
time.sleep(0.3)  # The next step runs.
for _ in range(times):
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)  # Equal signals that are pending at once become one.
rest, _ = process.communicate(timeout=60)
sys.stdout.write((first + rest).decode())
print("exit status", process.returncode)
