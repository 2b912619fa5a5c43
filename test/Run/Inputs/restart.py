# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a shell loop that restarts training, and kills ranks of it by SIGKILL again and again.

Usage: restart.py --kills N --seed S METRICS LOOP

Once METRICS has some rows more than at the kill before, a rank is killed, or all of them, in turn. At the end the loop has to end by
itself. Checkpoints are in the folder 'checkpoints' beside METRICS.
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import time


def trainers(root):
    """Processes `veeline train` among the descendants of `root`."""
    parents, found = {}, []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parents[int(entry.name)] = int(entry.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1])
            if entry.joinpath("cmdline").read_bytes().split(b"\0")[:2] == [b"veeline", b"train"]:
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue

    def descends(pid):
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root

    return [pid for pid in found if descends(pid)]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # The launcher was faster.


def rows(path):
    try:
        return max(path.read_bytes().count(b"\n") - 1, 0)
    except FileNotFoundError:
        return 0


def is_partial(folder):
    """Whether a checkpoint was being written: its index comes last."""
    return any(not path.joinpath("index.json").exists() for path in folder.glob("step-*"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("metrics", type=pathlib.Path)
    parser.add_argument("loop")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with open("loop.log", "wb") as log:
        loop = subprocess.Popen(["sh", "-c", arguments.loop], stdout=log, stderr=log)
        partial = 0
        for number in range(arguments.kills):
            target = rows(arguments.metrics) + chance.randint(1, 20)
            while rows(arguments.metrics) < target or not (victims := trainers(loop.pid)):
                if loop.poll() is not None:
                    sys.exit("it ended before it was killed:\n" + pathlib.Path("loop.log").read_text(encoding="utf-8"))
                time.sleep(0.001)
            for victim in victims if number % 2 else [chance.choice(victims)]:
                kill(victim)
            # Of the ranks that a launcher still ends, none writes an index.
            partial += is_partial(arguments.metrics.parent / "checkpoints")
            while set(victims) & set(trainers(loop.pid)):
                time.sleep(0.001)
        code = loop.wait()
    print(f"{arguments.kills} kills, {arguments.kills // 2} of them of all ranks, {partial} in the middle of a checkpoint; "
          f"then the loop ended with {code}")


if __name__ == "__main__":
    main()
