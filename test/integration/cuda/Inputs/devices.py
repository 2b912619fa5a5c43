# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains with a process for each of several GPUs, and beside it by threads on one: [--standin BUILD] RANKS WORK

Parameters have to be the same, bit for bit, by graphs, by eager steps and with few
channels of NCCL. Then one process is killed, and the others have to end. Tests on
GPUs and over the stand-ins are this one script, so that both do the same.
"""

import argparse
import pathlib
import re
import sys

from standin import LAUNCH, QUICK, compile_for_gpu, libraries, run

ROOT = pathlib.Path(__file__).parents[4]
CASES = {
    2: {"zb-v": ["--stages", "2", "--chunks-per-stage", "2", "--schedule", "zb-v"], "replicas": ["--stages", "1", "--replicas", "2"]},
    4: {"zb-v": ["--stages", "4", "--chunks-per-stage", "2", "--schedule", "zb-v"],
        "sends and receives side by side": ["--stages", "4", "--chunks-per-stage", "2", "--schedule", "zb-v", "--communication", "duplex"],
        "replicas, sends one by one": ["--stages", "2", "--replicas", "2", "--communication", "p2p"]},
}
# Layers, width, heads, sequence, microbatches and steps; over the stand-ins, which are slow, by the number of ranks. Eight chunks
# take three layers.
SIZES = {None: (4, 64, 4, 32, 8, 4), 2: (1, 16, 2, 4, 4, 3), 4: (3, 16, 2, 4, 4, 3)}


class Runs:
    def __init__(self, options):
        self.count, self.build = options.ranks, options.standin
        self.work = options.work
        *self.sizes, self.microbatches, self.steps = SIZES[self.count if self.build else None]
        self.environment = {}

    def compile(self, model, flags):
        flags = ["--no-reference", "--microbatches", self.microbatches, *flags]
        if self.build:
            artifact = compile_for_gpu(model, self.work, flags)
            if "duplex" in flags:
                self.environment = {"VEELINE_STANDIN_UNITS": "2", "VEELINE_STANDIN_CONNECT": "together"}
            return artifact
        artifact = self.work / "cuda.vee"
        run("veeline", "compile", "-q", model, "-o", artifact, "--target", "cuda", "--gpu-chips", "ptx", *flags)
        return artifact

    def train(self, artifact, *flags):
        stand_ins = libraries(self.build) if self.build else []
        return ["veeline", "train", artifact, "--text", ROOT / "LICENSE", *stand_ins, *flags]

    def launch(self, how, command):
        environment = {**self.environment, "VEELINE_STANDIN_DEVICES": str(self.count)} if self.build else {}
        return run(sys.executable, LAUNCH, *how, self.count, *command, **environment)

    def as_processes(self, artifact, name, *flags):
        output = self.launch(["--within", "100", "--after", "100"], self.train(artifact, "--steps", self.steps, "--save", self.work / name, *flags))
        if len(re.findall(r"^rank \d+: exit 0", output, re.MULTILINE)) != self.count:
            sys.exit(f"processes failed:\n{output}")
        if (self.work / name).read_bytes() != (self.work / "threads.st").read_bytes():
            sys.exit(f"processes have other parameters: see {self.work / name}")
        return output

    def compare(self, model, what, flags):
        artifact = self.compile(model, flags)
        run(*self.train(artifact, "--steps", self.steps, "--save", self.work / "threads.st"), **self.environment)
        output = self.as_processes(artifact, "processes.st", "--check-memory")
        gpus = {int(gpu) for gpu in re.findall(r"^ +(?:\d+ +){7}on GPU (\d+)", output, re.MULTILINE)}
        if gpus != set(range(self.count)):
            sys.exit(f"processes are on other GPUs:\n{output}")
        self.as_processes(artifact, "eager.st", "--eager", "--nccl-channels", "1,2")
        print(f"{self.count} processes as threads: {what}", flush=True)
        return artifact

    def kill_one(self, artifact):
        victim = self.count - 1
        output = self.launch(["--after", "10", "--signal", f"KILL:{victim}"], self.train(artifact, "--steps", "1000000", "--timeout", "5"))
        ends = re.findall(rf"^rank (\d+): exit 1: .*rank {victim} is gone", output, re.MULTILINE)
        if [int(rank) for rank in ends] != list(range(victim)):
            sys.exit(f"expected that all others end because rank {victim} is gone, found:\n{output}")
        print(f"rank {victim} is gone, and all others end")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--standin", help="a build folder; without it GPUs are used")
    parser.add_argument("ranks", type=int, choices=CASES)
    parser.add_argument("work", type=pathlib.Path)
    runs = Runs(parser.parse_args())
    runs.work.mkdir(parents=True, exist_ok=True)
    model = runs.work / "gpt.mlir"
    layers, width, heads, length = runs.sizes
    run(sys.executable, ROOT / "examples/gpt/generate.py", "--layers", layers, "--width", width, "--heads", heads, "--sequence", length,
        "--microbatch-size", 2, "-o", model)
    cases = dict(CASES[runs.count])
    # Over the stand-ins two ranks have shown it.
    if QUICK and runs.build and runs.count == 4:
        del cases["zb-v"]
    for what, flags in cases.items():
        artifact = runs.compare(model, what, flags)
    runs.kill_one(artifact)


if __name__ == "__main__":
    main()
