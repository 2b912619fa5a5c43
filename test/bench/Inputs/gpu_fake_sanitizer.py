#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In the place of compute-sanitizer: runs the command, and has found as many errors as FOUND says."""

import os
import subprocess
import sys

option, tool, *command = sys.argv[1:]
if option != "--tool" or tool not in ("memcheck", "synccheck"):
    sys.exit(f"expected '--tool' and a tool, found '{option}' and '{tool}'")
count = int(os.environ["FOUND"])
print("========= COMPUTE-SANITIZER", flush=True)
code = subprocess.run(command).returncode
print("========= Invalid __global__ read of size 4 bytes\n" * count + f"========= ERROR SUMMARY: {count} errors")
sys.exit(code)
