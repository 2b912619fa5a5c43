"""Trains small GPTs with each choice of what backwards compute again, and
compares losses and final parameters with those of recompute none, bit for bit;
likewise within limits of memory.

Usage: recompute.py SOURCE_DIRECTORY WORK_DIRECTORY [all]
"""

import json
import os
import pathlib
import re
import subprocess
import sys

SIZES = "--layers 2 --width 16 --heads 2 --sequence 8 --vocabulary 128 --microbatch-size 2".split()
MODELS = {"plain": [], "tied": ["--tied"]}
# Fused and split backwards, one and several chunks a stage.
SCHEDULES = {"1f1b": 1, "interleaved-1f1b": 2, "zb-v": 2, "zb-h1": 1, "gpipe": 1, "zb-2p": 1}
# How many of these without `all`, by which each has every choice, too.
FEW = 4
CHOICES = ["balanced", "cheap", "full", "0.5", "1B/ns", "0B/ns"]
# Shares of the largest arena of recompute none that no cut has to be moved for.
LIMITED = {"1f1b": 0.9, "zb-v": 0.9}
LISTS = {1: "full,none", 2: "full,none,0.5,cheap"}
STEPS = 2
# Of veeline compile, but for every eighth choice: see lit.cfg.py.
QUICK = os.environ.get("VEELINE_TEST_QUICK", "").split()
# A matrix product may leave that much of the scratch that its library asks for, where an arena ends, as it was.
SCRATCH = 640


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexits with {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


class Trainer:
    def __init__(self, source, work):
        self.text, self.work = source / "LICENSE", work
        self.compiled = 0

    def compile(self, model, schedule, *flags):
        artifact = self.work / "model.vee"
        quick = QUICK if self.compiled % 8 else []
        self.compiled += 1
        run("veeline", "compile", *quick, "-q", model, "-o", artifact, "--no-reference", "--stages", 2, "--chunks-per-stage",
            SCHEDULES[schedule], "--schedule", schedule, "--microbatches", 4, *flags)
        return artifact

    def train(self, artifact):
        """The losses as printed and the bytes of the parameters at the end."""
        metrics, parameters = self.work / "metrics.csv", self.work / "parameters.safetensors"
        run("veeline", "train", artifact, "--text", self.text, "--steps", STEPS, "--metrics", metrics, "--save", parameters)
        rows = [line.split(",") for line in metrics.read_text().splitlines()]
        column = rows[0].index("loss")
        return [row[column] for row in rows[1:]], parameters.read_bytes()

    def largest_arena(self, artifact):
        metadata = json.loads(run("veeline", "inspect", "--json", artifact))
        program = next(program for program in metadata["programs"] if program["name"] == "pipeline")
        return max(rank["arena_bytes"] for rank in program["ranks"])

    def touched(self, artifact):
        """The high-water mark of each rank with its arena."""
        output = run("veeline", "train", artifact, "--text", self.text, "--steps", 1, "--check-memory")
        return [(int(touched), int(arena))
                for arena, touched in re.findall(r"^\s*\d+\s+(\d+)\s+(\d+)\s+\d+\s+[\d.]+\s+\d+\s*$", output, re.MULTILINE)]


def main():
    source, work = map(pathlib.Path, sys.argv[1:3])
    is_all = sys.argv[3:] == ["all"]
    trainer = Trainer(source, work)
    equal = count = limited = limits = 0
    models = {}
    for name, flags in MODELS.items():
        models[name] = work / f"{name}.mlir"
        run(sys.executable, source / "examples/gpt/generate.py", *SIZES, *flags, "-o", models[name])
    schedules = list(SCHEDULES.items())[: None if is_all else FEW]
    for number, (schedule, chunks) in enumerate(schedules):
        name, model = list(models.items())[number % 2]
        artifact = trainer.compile(model, schedule, "--recompute", "none")
        reference, plain = trainer.train(artifact), trainer.largest_arena(artifact)
        # Every choice with fused and with split backwards.
        choices = CHOICES if is_all else CHOICES[number % 2::2]
        for choice in choices + [LISTS[chunks]]:
            same = trainer.train(trainer.compile(model, schedule, "--recompute", choice)) == reference
            equal, count = equal + same, count + 1
            if not same:
                print(f"{name}, {schedule}, {choice}: other bits")
        if schedule not in LIMITED:
            continue
        bound = int(LIMITED[schedule] * plain)
        artifact = trainer.compile(model, schedule, "--recompute", "auto", "--memory-limit", bound)
        marks = trainer.touched(artifact)
        fits = len(marks) == 2 and all(arena - SCRATCH <= mark <= arena <= bound for mark, arena in marks)
        same = trainer.train(artifact) == reference
        limited, limits = limited + (fits and same), limits + 1
        if not fits or not same:
            print(f"{name}, {schedule}: touched, planned {marks}, limit {bound}, {'equal' if same else 'other'} bits")
    print(f"{equal} of {count} runs have the bits of recompute none")
    print(f"{limited} of {limits} limited runs have them too, and touch what is planned and no more than the limit")


main()
