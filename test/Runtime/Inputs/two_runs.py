"""Starts a run that writes checkpoints to the folder 'c', and further ones beside it.

usage: two_runs.py COMMAND...
"""

import glob
import os
import signal
import subprocess
import sys
import time

# All are kept: those that come later may read one for long.
COMMAND = sys.argv[1:] + ["--checkpoint", "c", "--every", "100"]


def last_step():
    return max((int(path[len("c/step-"):].split("/")[0]) for path in glob.glob("c/step-*/index.json")), default=0)


def wait_beyond(step, process):
    while last_step() <= step:
        if process.poll() is not None:
            sys.exit("the first has ended")
        time.sleep(0.01)


def say(extra):
    try:
        done = subprocess.run(COMMAND + extra, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        first.kill()
        sys.exit("another run goes on beside the first")
    print(f"exit {done.returncode}: {done.stderr.strip()}", flush=True)


first = subprocess.Popen(COMMAND + ["--steps", "100000000"], stdout=subprocess.DEVNULL)
wait_beyond(0, first)
for start in ([], ["--continue"], ["--resume", "c"]):
    say(["--steps", "100000000"] + start)
wait_beyond(last_step(), first)
print("the first goes on")
first.send_signal(signal.SIGKILL)
# Not waited for: who follows may find it dying.
say(["--steps", str(last_step() + 5), "--continue"])
first.wait()
