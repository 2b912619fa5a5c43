# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a model with and without offloading, for several schedules, and trains
both.

Usage: offload.py MODEL WORK TEXT

Losses and parameters have the same bits, the largest arena is smaller, each byte of
it is as planned, and what is offloaded is not away at the end of a step. Within a
limit that the model does not have without offloading, it fits.
"""

import csv
import json
import pathlib
import subprocess
import sys

# Far faster than the model computes, so that nothing has to wait.
FAST = "--offload", "10TB/s"
CASES = {
    "1f1b": ["--stages", "4", "--microbatches", "8"],
    "gpipe": ["--stages", "2", "--microbatches", "4"],
    "interleaved-1f1b": ["--stages", "2", "--chunks-per-stage", "2", "--microbatches", "4"],
    "zb-v": ["--stages", "2", "--chunks-per-stage", "2", "--microbatches", "6"],
    "zb-loop": ["--stages", "2", "--chunks-per-stage", "2", "--microbatches", "6"],
    "pipedream-2bw": ["--stages", "2", "--microbatches", "6"],
    "gpipe, replicas": ["--stages", "2", "--microbatches", "4", "--replicas", "2"],
    "gpipe, full": ["--stages", "2", "--microbatches", "4", "--recompute", "full"],
    "gpipe, wide": ["--stages", "2", "--microbatches", "4", "--stage-replicas", "2,1"],
}


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def ranks_of(path):
    programs = json.loads(run("veeline", "inspect", path, "--json"))["programs"]
    return next(program for program in programs if program["name"] == "pipeline")["ranks"]


def parameters(path):
    return path.with_suffix(".st").read_bytes()


def losses(path):
    with open(path.with_suffix(".csv")) as file:
        return [row["loss"] for row in csv.DictReader(file)]


def check(name, options, model, work, text):
    schedule = name.split(",")[0]
    compile = ["veeline", "compile", "-q", "-O0", "--no-reference", model, "--schedule", schedule, *options]
    train = ["veeline", "train", "--text", text, "--steps", "4", "--lr", "0.01"]
    arenas = {}
    for kind, more in ("without", []), ("with", FAST):
        path = work / f"{schedule}-{kind}.vee"
        run(*compile, *more, "-o", path)
        arenas[kind] = max(rank["arena_bytes"] for rank in ranks_of(path))
        run(*train, path, "--save", work / f"{kind}.st", "--metrics", work / f"{kind}.csv")
    host = max(rank["host_bytes"] for rank in ranks_of(path))
    run(*train, path, "--check-memory")
    if "pipedream" not in schedule:
        run("veeline", "train", "--text", text, "--steps", "1", path, "--verify")
    for read in parameters, losses:
        if read(work / "with") != read(work / "without"):
            sys.exit(f"{name}: training with offloads gives other {read.__name__}")
    smaller = arenas["with"] < arenas["without"]
    print(f"{name}: equal bits, {'a smaller arena' if smaller else 'no smaller arena'}, "
          f"{'some' if host else 'nothing'} offloaded")
    return arenas


def check_limit(schedule, share, options, model, work, text):
    """A limit below what the schedule needs, of which some is offloaded."""
    options = [*options, "--schedule", schedule, "--no-reference", "-O0", "-q"]
    path = work / "limited.vee"
    run("veeline", "compile", model, *options, "-o", path)
    limit = max(rank["arena_bytes"] for rank in ranks_of(path)) * share // 100
    plain = subprocess.run(["veeline", "compile", model, *options, "--memory-limit", str(limit), "-o", path],
                           capture_output=True, text=True)
    # Copies as slow as that make ranks wait.
    run("veeline", "compile", model, *options, "--memory-limit", limit, "--offload", "1GB/s", "-o", path)
    ranks = ranks_of(path)
    fits = all(rank["arena_bytes"] <= limit for rank in ranks)
    host = max(rank["host_bytes"] for rank in ranks)
    run("veeline", "train", path, "--text", text, "--steps", "2", "--verify")
    print(f"{schedule}, {share} %: {'refused' if plain.returncode else 'fits'} without, "
          f"{'fits' if fits else 'does not fit'} with {'some' if host else 'nothing'} offloaded")


def main():
    model, work, text = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    for name, options in CASES.items():
        check(name, options, model, work, text)
    two = "--stages", "2", "--chunks-per-stage", "2", "--microbatches", "6"
    check_limit("1f1b", 90, ["--stages", "2", "--microbatches", "6", "--partition", "5,5"], model, work, text)
    for schedule in "zb-v", "zb-loop", "auto":
        check_limit(schedule, 90, two, model, work, text)


if __name__ == "__main__":
    main()
