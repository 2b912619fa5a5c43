#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills one rank of a run at a random time, again and again, and checks how the others end.

Usage: kill_at_random.py [--mpirun COMMAND] COUNT SEED RANKS COMMAND ARGUMENT ...

The command has --timeout 2, and writes `params`, `metrics.csv` and flight records in a folder of its own.
Each other rank has to end in time with exit code 1 and one line, an error that names the rank that is
gone; no file may be there but theirs, and none in part. A rank is killed at a random time of the first
steps, or, one time in four, while the ranks start and meet. Then a rank that does not know the others
yet may name one that has given up for that reason, but somebody has to name the right one.

With --mpirun that starts the ranks, by MPI, and kills only in steps. It ends the others by a signal when
it sees that one is dead, so they say their place in its handler, or as an error.
"""

import argparse
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import launch

TIMEOUT = 2
# More, on a busy machine, than ranks take that do what they should.
PATIENCE = 15


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", type=shlex.split)
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("ranks", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def start(options, folder):
    """The processes to wait for. Each rank writes what it says to said.RANK, and its process number to pid.RANK."""
    variable = "OMPI_COMM_WORLD_RANK" if options.mpirun else "RANK"
    script = f'exec 2> said.${variable}; test ${variable} != 0 || exec > out; echo $$ > pid.${variable}; exec "$@"'
    command = ["sh", "-c", script, "sh", *options.command, "--timeout", str(TIMEOUT), "--save", "params", "--metrics",
               "metrics.csv", "--flight-recorder", "flight", "--log-every", "1"]
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if options.mpirun:
        return [subprocess.Popen([*options.mpirun, "-np", str(options.ranks), *command], **quiet)]
    port = launch.free_port()
    variables = {"WORLD_SIZE": str(options.ranks), "MASTER_PORT": str(port), "VEELINE_TOKEN": launch.TOKEN}
    return [subprocess.Popen(command, env={**os.environ, **variables, "RANK": str(rank)}, **quiet)
            for rank in range(options.ranks)]


def read(path):
    return path.read_text() if path.exists() else ""


def await_text(path, text):
    deadline = time.monotonic() + PATIENCE
    while text not in read(path) and time.monotonic() < deadline:
        time.sleep(0.002)


def await_ends(processes):
    """Whether all end by themselves."""
    deadline = time.monotonic() + TIMEOUT + PATIENCE
    while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
        time.sleep(0.01)
    ended = all(process.poll() is not None for process in processes)
    for process in processes:
        process.kill()
        process.wait()
    return ended


def is_said(options, text, rank, victim, inSteps):
    error = "veeline: error: "
    gone = rf"(before )?step \d+: (rank \d has failed: )?rank {victim} is gone: its connection is closed(; [^\n]*)?"
    if options.mpirun:
        told = rf"veeline: told to end by signal {int(signal.SIGTERM)} in step \d+: [^\n]*rank {rank} [^\n]*"
        return re.search(f"^({error}{gone}|{told})$", text, re.MULTILINE)
    if not inSteps:
        # Some have met already, others say what they have heard, and whose connection came to nothing.
        error = rf"(veeline: rank {rank}: dropped a connection from [^\n]*\n)*" + error
        gone = (r"[^\n]*rank \d is gone[^\n]*|rank \d waited [\d.]+ s in vain for ranks? \d[^\n]*"
                r"|rank \d at [^\n]* has closed the connection[^\n]*")
    return re.fullmatch(f"{error}({gone})\n", text)


def is_whole(table):
    """Whether a table of metrics has whole lines."""
    lines = table.splitlines(keepends=True)
    return all(line.endswith("\n") and line.count(",") == lines[0].count(",") for line in lines)


def find_flaws(options, numbers, folder):
    victim, inSteps = numbers.randrange(options.ranks), bool(options.mpirun) or numbers.random() < 0.75
    delay = numbers.random() * (0.5 if inSteps else 0.15)
    processes = start(options, folder)
    await_text(folder / "out" if inSteps else folder / f"pid.{victim}", "step " if inSteps else "\n")
    time.sleep(delay)
    os.kill(int(read(folder / f"pid.{victim}")), signal.SIGKILL)
    place = f"rank {victim}, killed {delay:.3f} s after the {'first step' if inSteps else 'start'}"
    if not await_ends(processes):
        yield f"{place}: not all end"
    codes = [process.returncode for process in processes]
    if options.mpirun and codes == [0] or not options.mpirun and any(code != 1 for code in codes[:victim] + codes[victim + 1:]):
        yield f"{place}: exit codes are {codes}"
    said = {rank: read(folder / f"said.{rank}") for rank in range(options.ranks) if rank != victim}
    if not any(re.search(rf"\brank {victim}\b|\branks [\d, ]*\b{victim}\b", text) for text in said.values()):
        yield f"{place}: nobody names it"
    for rank, text in said.items():
        if not is_said(options, text, rank, victim, inSteps):
            yield f"{place}: rank {rank} says '{text}'"
    records = r"flight\.rank\d\.(txt|trace\.json)"
    odd = [name for name in os.listdir(folder) if not re.fullmatch(rf"(said|pid)\.\d|out|metrics\.csv|{records}", name)]
    if odd or not is_whole(read(folder / "metrics.csv")):
        yield f"{place}: it leaves {odd} and '{read(folder / 'metrics.csv')[-200:]}'"


def main():
    options = parse_arguments()
    numbers = random.Random(options.seed)
    options.command = [os.path.abspath(word) if word.endswith(".vee") else word for word in options.command]
    numWrong = 0
    for _ in range(options.count):
        with tempfile.TemporaryDirectory() as folder:
            flaws = list(find_flaws(options, numbers, pathlib.Path(folder)))
        numWrong += bool(flaws)
        for flaw in flaws:
            print(flaw, flush=True)
    print(f"{options.count} kills, {numWrong} wrong")
    sys.exit(numWrong != 0)


if __name__ == "__main__":
    main()
