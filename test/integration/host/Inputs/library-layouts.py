"""Trains a model by schedules and choices of what is kept, over a library whose bits depend on layouts, and compares bits.

Two stages, each of as many chunks as the schedule takes. All schedules that take as many have the cuts of the first one: gradients of a value are added in the order of its users, which cuts decide. In the short suite each choice of what is kept is of every second schedule alone. With --limits what is kept follows from two limits of memory between the least and the most that the model takes.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

from equality import CHUNKS_PER_STAGE

KEPT = [[], ["--recompute", "none"], ["--recompute", "0.5"], ["--recompute", "full"]]
# Each of them with some schedule, where the suite is not the long one (lit.cfg.py).
IN_TURN = bool(os.environ.get("VEELINE_TEST_QUICK"))
# Between the least and the most.
SHARES = [0.25, 0.7]


def run(command, may_fail=False):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 and not may_fail:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}")
    return done.stdout


class Bits:
    def __init__(self, given):
        self.artifact = os.path.join(given.directory, "model.vee")
        self.saved = os.path.join(given.directory, "parameters.safetensors")
        self.compiler = ["veeline", "compile", given.model, "--stages", "2", "--microbatches", "4", "--quiet", "-o", self.artifact]
        self.compiler += shlex.split(given.options)
        # By chunks per stage.
        self.cuts = {}
        # By chunks per stage, then by name.
        self.digests = {}

    def compile(self, schedule, *options, may_fail=False):
        self.chunks = CHUNKS_PER_STAGE[schedule]
        cut = self.cuts.get(self.chunks)
        said = run([*self.compiler, "--schedule", schedule, "--chunks-per-stage", str(self.chunks), *(["--partition", cut] if cut else []), *options], may_fail)
        if not cut:
            self.cuts[self.chunks] = ",".join(str(chunk["pieces"]) for chunk in self.pipeline()["chunks"])
        return said

    def pipeline(self):
        metadata = json.loads(run(["veeline", "inspect", "--json", self.artifact]))
        return next(program for program in metadata["programs"] if program["name"] == "pipeline")

    def train(self, name):
        """What was compiled last; `name` is what the bits are of."""
        train = ["veeline-layout-sensitive", "train", self.artifact, "--synthetic", "fixed"]
        run(train + ["--verify"])
        run(train + ["--steps", "3", "--save", self.saved])
        with open(self.saved, "rb") as file:
            self.digests.setdefault(self.chunks, {})[name] = hashlib.sha256(file.read()).hexdigest()


def arenas(program):
    return [rank["arena_bytes"] for rank in program["ranks"]]


def kept(program):
    return [chunk["residual_bytes"] for chunk in program["chunks"]]


def train_within(bits, schedule):
    """Of the cuts that there are without a limit, so that nothing but what is kept can follow from it."""
    bits.compile(schedule, "--recompute", "none")
    bits.train(f"{schedule} without a limit")
    most = bits.pipeline()
    options = ["--recompute", "auto", "--memory-limit"]
    least = []
    for limits in ("1KiB,1GiB", "1GiB,1KiB"):
        error = bits.compile(schedule, *options, limits, may_fail=True)
        found = re.search(r"at least (\d+) bytes", error)
        least.append(int(found.group(1)) if found else sys.exit(f"{schedule} within {limits}: no least is said\n{error}"))
    choices = {tuple(kept(most))}
    for share in SHARES:
        limits = [int(low + share * (high - low)) for low, high in zip(least, arenas(most))]
        bits.compile(schedule, *options, ",".join(map(str, limits)))
        within = bits.pipeline()
        if any(arena > limit for arena, limit in zip(arenas(within), limits)):
            sys.exit(f"{schedule}: arenas {arenas(within)} exceed {limits}")
        choices.add(tuple(kept(within)))
        bits.train(f"{schedule} within {limits}")
    # Limits that change nothing would test nothing.
    if len(choices) != 1 + len(SHARES):
        sys.exit(f"{schedule}: limits between {least} and {arenas(most)} lead to what is kept {sorted(choices)} alone")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--options", default="", help="of compile")
    parser.add_argument("--directory", required=True, help="where results go")
    parser.add_argument("--schedules", default="1f1b,zb-h1", metavar="NAME,...", help="or `all`")
    parser.add_argument("--limits", action="store_true", help="keep what limits of memory allow")
    given = parser.parse_args()
    os.makedirs(given.directory, exist_ok=True)
    bits = Bits(given)
    for number, schedule in enumerate(given.schedules.split(",") if given.schedules != "all" else CHUNKS_PER_STAGE):
        if given.limits:
            train_within(bits, schedule)
            continue
        for choice in KEPT[number % 2::2] if IN_TURN else KEPT:
            bits.compile(schedule, *choice)
            bits.train(" ".join([schedule, *choice]))
    for digests in bits.digests.values():
        if len(set(digests.values())) != 1:
            sys.exit("\n".join(f"{digest}  {name}" for name, digest in digests.items()))
        print(f"{len(digests)} artifacts have the same bits")


main()
