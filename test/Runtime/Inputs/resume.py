"""Whether training that goes on from a checkpoint ends with the bits of training that did not stop.

usage: resume.py [--steps N] [--every N] [--from STEP] [--launch LAUNCHER...] FIRST [OTHER...] -- TRAIN_OPTIONS...

Trains FIRST (ARTIFACT or ARTIFACT:RANKS, in that many processes) for all steps without checkpoints and with them, and compares. Then
FIRST and each OTHER go on from a checkpoint of that run, and write one at the end: every tensor of these is compared. Prints a line
for each.
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys

launcher = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Processes", "Inputs", "launch.py")


def train(artifact, options):
    name, _, ranks = artifact.partition(":")
    name, _, extra = name.partition("+")
    command = ["veeline", "train", name] + (extra.split(",") if extra else []) + options
    if ranks:
        command = [sys.executable, launcher, ranks] + command
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    failed = done.returncode != 0 or (ranks and any(f"rank {i}: exit 0" not in done.stdout for i in range(int(ranks))))
    if failed:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def tensors(folder):
    index = json.load(open(os.path.join(folder, "index.json")))
    found = {}
    for piece in index["pieces"]:
        content = open(os.path.join(folder, piece["file"]), "rb").read()
        (length,) = struct.unpack("<Q", content[:8])
        for name, entry in json.loads(content[8 : 8 + length]).items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                found[name] = (entry["dtype"], entry["shape"], content[8 + length + begin : 8 + length + end])
    return index, found


def compare(before, after):
    index, want = before
    other, have = after
    for key in ("step", "updates", "loss_scale", "data"):
        if index[key] != other[key]:
            return f"other {key}: {index[key]}, {other[key]}"
    # Other schedules use none or more of them.
    names = {name for name in want if not name.startswith("older.")} | (want.keys() & have.keys())
    for name in sorted(names):
        if want[name] != have.get(name):
            return f"other bits of {name}"
    return f"same bits of {len(names)} tensors"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--from", dest="start", type=int)
    parser.add_argument("artifacts", nargs="+")
    split = sys.argv.index("--")
    arguments, options = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    options += ["--steps", str(arguments.steps)]
    first = arguments.artifacts[0]
    for folder in ("whole", "after"):
        shutil.rmtree(folder, ignore_errors=True)
    train(first, options + ["--save", "without"])
    train(first, options + ["--save", "with", "--checkpoint", "whole", "--every", str(arguments.every)])
    same = open("without", "rb").read() == open("with", "rb").read()
    print(f"{first} with checkpoints: {'same' if same else 'other'} parameters")
    last = f"step-{arguments.steps:08}"
    start = arguments.start or arguments.every
    for artifact in arguments.artifacts:
        shutil.rmtree("after", ignore_errors=True)
        said = train(artifact, options + ["--resume", f"whole/step-{start:08}", "--checkpoint", "after"])
        remarks = [line for line in said.splitlines() if "remark" in line]
        print(f"{artifact} from step {start}: {compare(tensors(f'whole/{last}'), tensors(f'after/{last}'))}")
        for line in remarks:
            print("  " + line[line.index("remark") :])


main()
