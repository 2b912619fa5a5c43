"""Usage: peak_memory.py FEW MANY -- COMMAND

Runs the command with --steps FEW and --steps MANY, and compares the most memory that it had: at most 8 MiB more.
"""

import resource
import subprocess
import sys

few, many, _, *command = sys.argv[1:]


def peak(steps):
    with subprocess.Popen([*command, "--steps", steps], stdout=subprocess.DEVNULL) as process:
        if process.wait() != 0:
            sys.exit(f"exit {process.returncode} with {steps} steps")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


first = peak(few)
more = peak(many) - first  # The most of both.
print("the same peak" if more <= 8 << 10 else f"{more} KiB more")
