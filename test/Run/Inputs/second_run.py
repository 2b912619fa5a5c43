# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: second_run.py JOB METRICS. Starts a job again while it runs, prints what that says, and ends the first one."""

import pathlib
import subprocess
import sys
import time

job, metrics = sys.argv[1], pathlib.Path(sys.argv[2])
first = subprocess.Popen(["veeline", "run", job], stdout=subprocess.DEVNULL)
try:
    while not metrics.exists() and first.poll() is None:
        time.sleep(0.01)
    second = subprocess.run(["veeline", "run", job], capture_output=True, text=True)
    print(second.returncode, second.stderr.strip())
finally:
    first.terminate()
    first.wait()
