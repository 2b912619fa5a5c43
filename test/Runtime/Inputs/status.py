"""Runs a command and prints its exit status."""

import subprocess
import sys

status = subprocess.run(sys.argv[1:]).returncode
sys.stdout.flush()
print("exit status", status)
