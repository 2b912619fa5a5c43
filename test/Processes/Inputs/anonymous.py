"""Compares the memory of ranks that begin training with that of ranks that go on from a checkpoint.

usage: anonymous.py RANKS CHECKPOINT COMMAND...

Counts what no file backs, in steps, of the rank that has most.
"""

import os
import signal
import sys
import time

from kill_checkpoints import start

ROWS = "rows.csv"


def anonymous(process):
    """In KiB."""
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def measure(command, ranks):
    if os.path.exists(ROWS):
        os.remove(ROWS)
    with open("said", "w") as log:
        processes = start(command + ["--steps", "1000000", "--metrics", ROWS], ranks, log)
    while not os.path.exists(ROWS) or open(ROWS).read().count("\n") < 4:
        time.sleep(0.05)
        if any(process.poll() is not None for process in processes):
            sys.exit(open("said").read())
    most = max(anonymous(process) for process in processes)
    for process in processes:
        process.send_signal(signal.SIGINT)
    for process in processes:
        process.wait()
    return most


def main():
    ranks, checkpoint, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    begun, resumed = measure(command, ranks), measure(command + ["--resume", checkpoint], ranks)
    print(f"{begun} KiB, and {resumed} KiB after a resume: {max(0, resumed - begun) // 1024} MiB more")


main()
