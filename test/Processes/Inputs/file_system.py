"""Trains in a file system that fails and recovers, or that goes away for good, and prints what came of it.

usage: file_system.py read-only|unmounted RANKS COMMAND...

The file system is mounted at 'disk', and COMMAND writes checkpoints to 'disk/c', as one process or as several. Run it in a mount namespace of its own.
"""

import glob
import os
import signal
import subprocess
import sys
import time

from kill_checkpoints import start

LIMIT = 60


def steps():
    return {int(os.path.basename(os.path.dirname(path))[5:]) for path in glob.glob("disk/c/step-*/index.json")}


def wait_until(what, holds, processes):
    end = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > end or any(process.poll() is not None for process in processes):
            print(f"in vain: {what}")
            return
        time.sleep(0.01)


def make_read_only():
    """A file that is open for writing prevents that."""
    return subprocess.run(["mount", "-o", "remount,ro", "disk"], capture_output=True).returncode == 0


def main():
    deed, ranks, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    subprocess.run(["mount", "-t", "tmpfs", "none", "disk"], check=True)
    with open("said", "w") as log:
        processes = start(command, ranks, log)
    said = lambda: open("said").read()
    wait_until("a checkpoint", lambda: len(steps()) > 1, processes)
    if deed == "unmounted":
        subprocess.run(["umount", "-l", "disk"], check=True)
    else:
        wait_until("a moment without files", make_read_only, processes)
    wait_until("a remark", lambda: "training goes on" in said(), processes)
    if deed == "read-only":
        before = steps()
        subprocess.run(["mount", "-o", "remount,rw", "disk"], check=True)
        wait_until("another checkpoint", lambda: max(steps()) > max(before), processes)
    for process in processes:
        process.send_signal(signal.SIGINT)
    codes = {process.wait(LIMIT) for process in processes}
    print(said(), end="")
    print("exit status", *codes)
    if deed == "read-only":
        resumed = subprocess.run(["veeline", "export", "disk/c", "-o", "exported"], capture_output=True, text=True)
        print(resumed.stdout + resumed.stderr, end="")


main()
