# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Truncates a file once a command has printed a step: truncate_later.py FILE COMMAND ARGUMENT ... Prints how the command ended, and its standard error."""

import os
import subprocess
import sys

process = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
for line in process.stdout:
    if "step " in line:
        break
os.truncate(sys.argv[1], 0)
_, error = process.communicate(timeout=60)
print(f"exit {process.returncode}: {error.strip()}")
