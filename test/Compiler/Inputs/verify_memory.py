"""Compares what `train --verify` says that it needs with what its programs allocate, and with what the process has at most.

usage: verify_memory.py ARTIFACT OPTION...
"""

import os
import re
import subprocess
import sys
import tempfile

# Of what libraries allocate for themselves, and of the allocator.
SLACK = 24 << 20


def run(command):
    """What the command prints, and the most memory that its process had."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode != 0 and "it is there for --verify" not in text:
        sys.exit(f"{' '.join(command)}\n{text}")
    return text, usage.ru_maxrss * 1024


def allocated(train, program):
    """None of a program of single microbatches, which runs under --verify only."""
    text, _ = run([*train, "--program", program, "--check-memory", "--steps-in-flight", "1"])
    if "it is there for --verify" in text:
        return None
    table, rest = text.split("allocated once, outside of the arenas:\n")
    arenas = sum(int(row) for row in re.findall(r"^ +\d+ +(\d+) +\d+ +\d+ +[\d.]+ +\d+$", table, re.MULTILINE))
    return arenas + sum(int(size) for size in re.findall(r"^ +(\d+) bytes  (?:batches|where)", rest, re.MULTILINE))


def main():
    train = ["veeline", "train", *sys.argv[1:], "--steps", "2"]
    text, most = run([*train, "--verify"])
    need = int(re.search(r"verification needs (\d+) bytes", text).group(1))
    programs = {name: int(size) for size, name in re.findall(r"(\d+) for '(\w+)'", text)}
    for name, size in programs.items():
        found = allocated(train, name)
        if found not in (None, size):
            sys.exit(f"{name} allocates {found} bytes, said was {size}")
    _, of_training = run(train)
    beside, said = most - of_training, need - next(iter(programs.values()))
    if not 0.8 * said < beside < said + SLACK:
        sys.exit(f"beside training's, verification takes {beside} bytes, said was {said}")
    print(f"as said of {', '.join(programs)}")


main()
