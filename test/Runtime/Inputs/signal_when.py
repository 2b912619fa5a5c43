"""Runs a command, sends it a signal half a second after a file appears, and prints its output, its exit status, and whether it took long.

usage: signal_when.py FILE SIGNAL COMMAND...
"""

import os
import signal
import subprocess
import sys
import time

path, name, command = sys.argv[1], sys.argv[2], sys.argv[3:]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
while not os.path.exists(path) and process.poll() is None:
    time.sleep(0.01)
time.sleep(0.5)
process.send_signal(getattr(signal, "SIG" + name))
begin = time.monotonic()
try:
    said, _ = process.communicate(timeout=30)
except subprocess.TimeoutExpired:
    process.kill()
    said, _ = process.communicate()
    said += "it did not end\n"
print(said, end="")
print("exit status", process.returncode, "soon" if time.monotonic() - begin < 10 else "late")
