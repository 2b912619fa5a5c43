# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a model that recomputes inside of its backwards and ahead of them, for
several schedules, and trains both.

Usage: recompute_ahead.py MODEL WORK TEXT

Losses and parameters have the same bits, those of the sequential program, each byte of
memory is as planned, and each microbatch of a chunk that recomputes has an R.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys

CASES = {
    "1f1b": ["--stages", "4", "--microbatches", "8"],
    "gpipe": ["--stages", "2", "--microbatches", "4"],
    "interleaved-1f1b": ["--stages", "2", "--chunks-per-stage", "2", "--microbatches", "4"],
    "zb-v": ["--stages", "2", "--chunks-per-stage", "2", "--microbatches", "6"],
    "zb-loop": ["--stages", "2", "--chunks-per-stage", "2", "--microbatches", "6"],
    "auto": ["--stages", "2", "--chunks-per-stage", "2", "--microbatches", "6"],
    "1f1b, replicas": ["--stages", "2", "--microbatches", "4", "--replicas", "2"],
    "1f1b, half": ["--stages", "2", "--microbatches", "4", "--recompute", "0.5"],
    "1f1b, wide": ["--stages", "2", "--microbatches", "4", "--stage-replicas", "2,1"],
    "gpipe, offloads": ["--stages", "2", "--microbatches", "4", "--offload", "10TB/s"],
}


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def predicted_step(path):
    return float(re.search(r"predicted step ([0-9.]+) ms", run("veeline", "inspect", path))[1])


def losses(path):
    with open(path.with_suffix(".csv")) as file:
        return [row["loss"] for row in csv.DictReader(file)]


def check(name, options, model, work, text):
    schedule = name.split(",")[0]
    if "--recompute" not in options:
        options = [*options, "--recompute", "full"]
    steps, timeline = {}, work / "time.json"
    for kind, more in ("inside", []), ("ahead", ["--recompute-ahead"]):
        path = work / f"{kind}.vee"
        run("veeline", "compile", "-q", "-O0", "--no-reference", model, "--schedule", schedule, *options, *more, "-o", path)
        steps[kind] = predicted_step(path)
        run("veeline", "train", path, "--text", text, "--steps", "4", "--lr", "0.01", "--save", path.with_suffix(".st"),
            "--metrics", path.with_suffix(".csv"), "--timeline", timeline)
    run("veeline", "train", path, "--text", text, "--steps", "2", "--check-memory")
    run("veeline", "train", path, "--text", text, "--steps", "1", "--verify")
    inside, ahead = work / "inside.vee", work / "ahead.vee"
    if inside.with_suffix(".st").read_bytes() != ahead.with_suffix(".st").read_bytes() or losses(inside) != losses(ahead):
        sys.exit(f"{name}: recomputing ahead gives other bits")
    names = [event["name"].split()[0] for event in json.loads(timeline.read_text())["traceEvents"] if event["ph"] == "X"]
    # In each step, of all chunks but the last.
    count = names.count("R")
    ratio = steps["ahead"] / steps["inside"]
    change = "a shorter step" if ratio < 0.99 else "a step as long" if ratio < 1.1 else f"a longer step, {ratio:.2f}"
    print(f"{name}: equal bits, {count} R, {change}")


def main():
    model, work, text = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    for name, options in CASES.items():
        check(name, options, model, work, text)


if __name__ == "__main__":
    main()
