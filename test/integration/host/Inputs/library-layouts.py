"""Trains a model by schedules and choices of what is kept, over a library whose bits depend on layouts, and compares bits."""

import argparse
import hashlib
import os
import shlex
import subprocess
import sys

SCHEDULES = [["1f1b"], ["zb-h1"]]
KEPT = [[], ["--recompute", "none"], ["--recompute", "0.5"], ["--recompute", "full"]]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--options", default="", help="of compile")
    parser.add_argument("--directory", required=True, help="where results go")
    given = parser.parse_args()
    os.makedirs(given.directory, exist_ok=True)
    artifact = os.path.join(given.directory, "model.vee")
    saved = os.path.join(given.directory, "parameters.safetensors")
    bits = {}
    for schedule in SCHEDULES:
        for kept in KEPT:
            run(
                ["veeline", "compile", given.model, "--stages", "2", "--microbatches", "4", "--quiet", "-o", artifact]
                + ["--schedule"]
                + schedule
                + kept
                + shlex.split(given.options)
            )
            train = ["veeline-layout-sensitive", "train", artifact, "--synthetic", "fixed"]
            run(train + ["--verify"])
            run(train + ["--steps", "3", "--save", saved])
            with open(saved, "rb") as file:
                bits[" ".join(schedule + kept)] = hashlib.sha256(file.read()).hexdigest()
    if len(set(bits.values())) != 1:
        sys.exit("\n".join(f"{digest}  {name}" for name, digest in bits.items()))
    print(f"{len(bits)} artifacts have the same bits")


main()
