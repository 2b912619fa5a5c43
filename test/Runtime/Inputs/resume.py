"""Whether training that goes on from a checkpoint ends with the bits of training that did not stop.

usage: resume.py [--steps N] [--every N] [--from STEP] [--begin OPTIONS] [--mpirun COMMAND] FIRST [OTHER...] -- TRAIN_OPTIONS...

A run is ARTIFACT[+OPTION...][:RANKS], in that many processes, which a launcher starts. FIRST is trained for all steps without
checkpoints and with them, which is compared. Then FIRST and each OTHER go on from a checkpoint of that, and write one at the end:
its index and every tensor is compared. Prints a line for each run, and its remarks. --begin has options of runs that begin anew.
"""

import argparse
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Processes", "Inputs", "launch.py")


def train(run, options, mpirun):
    name, _, ranks = run.partition(":")
    name, _, further = name.partition("+")
    command = ["veeline", "train", name] + (further.split("+") if further else []) + options
    if ranks and mpirun:
        command = shlex.split(mpirun) + ["-np", ranks] + command
    elif ranks:
        command = [sys.executable, LAUNCHER, ranks] + command
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    # The launcher succeeds, and says how ranks ended.
    failed = ranks and not mpirun and any(f"rank {i}: exit 0" not in done.stdout for i in range(int(ranks)))
    if failed or done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def read(folder):
    """The index of a checkpoint and its tensors."""
    with open(os.path.join(folder, "index.json")) as file:
        index = json.load(file)
    tensors = {}
    for piece in index["pieces"]:
        with open(os.path.join(folder, piece["file"]), "rb") as file:
            content = file.read()
        (length,) = struct.unpack("<Q", content[:8])
        for name, entry in json.loads(content[8 : 8 + length]).items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                tensors[name] = (entry["dtype"], entry["shape"], content[8 + length + begin : 8 + length + end])
    return index, join_parts(index, tensors)


def join_parts(index, tensors):
    """One tensor of those that several ranks have a part of, as part.FIRST/NAME."""
    shapes = {param["name"]: param["shape"] for param in index["params"]}
    parts = {}
    for name in [name for name in tensors if name.startswith("part.")]:
        first, _, whole = name.removeprefix("part.").partition("/")
        parts.setdefault(whole, []).append((int(first), tensors.pop(name)))
    for whole, list_of_parts in parts.items():
        list_of_parts.sort()
        tensors[whole] = (list_of_parts[0][1][0], shapes[whole.partition("/")[2]], b"".join(part[1][2] for part in list_of_parts))
    return tensors


def compare(before, after):
    (index, want), (other, have) = before, after
    for key in ("step", "updates", "loss_scale", "data"):
        if index[key] != other[key]:
            return f"other {key}"
    for name in sorted(want.keys() | have.keys()):
        # Schedules may use none or more of the older values.
        if want.get(name) != have.get(name) and not (name.startswith("older.") and (name not in want or name not in have)):
            return f"other bits of {name}"
    return "the same bits"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--from", dest="start", type=int)
    parser.add_argument("--begin", default="")
    parser.add_argument("--mpirun")
    parser.add_argument("runs", nargs="+")
    split = sys.argv.index("--")
    arguments, options = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    options += ["--steps", str(arguments.steps)]
    for folder in ("whole", "after"):
        shutil.rmtree(folder, ignore_errors=True)
    first = arguments.runs[0]
    begin = options + shlex.split(arguments.begin)
    train(first, begin + ["--save", "without"], arguments.mpirun)
    train(first, begin + ["--save", "with", "--checkpoint", "whole", "--every", str(arguments.every)], arguments.mpirun)
    with open("without", "rb") as without, open("with", "rb") as checkpointed:
        print(f"{first} with checkpoints: {'the same' if without.read() == checkpointed.read() else 'OTHER'} parameters")
    last = f"step-{arguments.steps:08}"
    start = f"whole/step-{arguments.start or arguments.every:08}"
    for run in arguments.runs:
        shutil.rmtree("after", ignore_errors=True)
        said = train(run, options + ["--resume", start, "--checkpoint", "after"], arguments.mpirun)
        print(f"{run}: {compare(read('whole/' + last), read('after/' + last))}")
        for line in said.splitlines():
            if "remark" in line:
                print("  " + line[line.index("remark") :])


main()
