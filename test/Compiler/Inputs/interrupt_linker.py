"""Interrupts `veeline compile` while it links, and prints what is left behind.

Usage: interrupt_linker.py SIGNAL DIRECTORY COMMAND...

The command runs in DIRECTORY/work with DIRECTORY/tmp for temporary files. The linker that
it finds is one that writes part of its output and then waits.
"""

import os
import pathlib
import select
import signal
import subprocess
import sys
import time

LINKER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo part > "$2"
echo linking > "$MARKER"
exec sleep 600
"""


def is_gone(held):
    """Whether nobody holds the other end of a pipe any more; who was killed may take a moment."""
    readable, _, _ = select.select([held], [], [], 30)
    return bool(readable)


def main():
    number = getattr(signal, sys.argv[1])
    directory = pathlib.Path(sys.argv[2])
    for name in ("bin", "tmp", "work"):
        (directory / name).mkdir(parents=True)
    linker = directory / "bin" / "ld"
    linker.write_text(LINKER)
    linker.chmod(0o755)
    marker = directory / "linking"
    path = f"{directory / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # The linker inherits an end of this pipe: a number of a process may be given to another one.
    held, holder = os.pipe()
    process = subprocess.Popen(
        sys.argv[3:],
        cwd=directory / "work",
        pass_fds=[holder],
        # lit has its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        env={**os.environ, "PATH": path, "TMPDIR": str(directory / "tmp"), "MARKER": str(marker)},
    )
    os.close(holder)
    deadline = time.monotonic() + 60
    while not (marker.exists() and marker.read_text().endswith("\n")):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"it never linked, exit status {process.poll()}")
        time.sleep(0.01)
    suffixes = sorted({entry.suffix for entry in (directory / "tmp").iterdir()})
    print("while it links:", *suffixes, flush=True)
    process.send_signal(number)
    print("exit status", process.wait(timeout=30))
    left = [str(f) for name in ("tmp", "work") for f in (directory / name).iterdir()]
    print("left behind:", *left or ["nothing"])
    print("the linker", "is gone" if is_gone(held) else "runs on")


main()
