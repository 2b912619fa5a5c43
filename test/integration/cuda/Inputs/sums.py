# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains with --sums ordered and nccl, as threads and as processes with a GPU each, over the stand-ins.

Usage: sums.py BUILD ORDER MODEL WORK OPTION ...

Ordered sums have to have the bits of threads. NCCL's have to be near them, and to have the same bits from graphs and
issued; with EXACT, which is for two contributions, those of threads. All ranks of a stage have to have the same gradients,
where each has all of them. Prints what each way takes: arenas, and the calls of a step of all ranks.
"""

import csv
import json
import math
import os
import pathlib
import re
import struct
import sys

from standin import LAUNCH, compile_for_gpu, count_ranks, libraries, run

CALLS = ["ncclSend", "ncclRecv", "ncclAllReduce", "ncclReduceScatter", "ncclReduce", "ncclAllGather", "ncclBroadcast",
         "ncclGroupEnd", "cuLaunchKernel"]
STEPS = 4


def numbers(path):
    with open(path, encoding="utf-8") as file:
        return [[float(row[name]) for name in ("loss", "gradient_norm", "clip_factor") if row.get(name)] for row in csv.DictReader(file)]


def elements(path):
    """The elements of a file of parameters, all of f32."""
    data = path.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    return [value for value, in struct.iter_unpack("<f", data[begin:])]


def are_near(found, expected, tolerance):
    return len(found) == len(expected) and all(
        math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in zip(found, expected))


class Way:
    """One of the two ways to add."""

    def __init__(self, build, order, model, folder, options):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.order, self.libraries = folder, order, libraries(build)
        self.artifact = compile_for_gpu(model, folder, [*options, "--no-reference"])
        self.count = count_ranks(self.artifact)
        self.clip = ["--clip-norm", "0.05"] if "--clip-sync" in options else []

    def train(self, name, steps, *flags):
        files = ["--metrics", self.folder / f"{name}.csv", "--save", self.folder / f"{name}.st"]
        return ["veeline", "train", self.artifact, "--steps", steps, "--synthetic", "fixed", *self.clip, *self.libraries, *files, *flags]

    def as_threads(self):
        run(*self.train("threads", STEPS), VEELINE_STANDIN_ORDER=self.order)

    def as_processes(self, name, steps, *flags):
        reports = [f"--environment={rank}:VEELINE_STANDIN_REPORT={self.folder}/report{rank}" for rank in range(self.count)]
        output = run(sys.executable, LAUNCH, "--within", "100", "--after", "100", *reports, self.count, *self.train(name, steps, *flags),
                     VEELINE_STANDIN_ORDER=self.order, VEELINE_STANDIN_DEVICES=str(self.count))
        if len(re.findall(r"^rank \d+: exit 0", output, re.MULTILINE)) != self.count:
            sys.exit(f"processes failed:\n{output}")
        texts = [(self.folder / f"report{rank}").read_text(encoding="utf-8") for rank in range(self.count)]
        if any("live 0\n" not in text for text in texts):
            sys.exit(f"something was not freed: see {self.folder}")
        return {call: sum(int(number) for text in texts for number in re.findall(rf"^{call} (\d+)$", text, re.MULTILINE)) for call in CALLS}

    def result(self, name):
        return numbers(self.folder / f"{name}.csv"), (self.folder / f"{name}.st").read_bytes()

    def calls_of_step(self):
        """What connects ranks does not count."""
        few, many = (self.as_processes("calls", steps, "--eager") for steps in (2, 3))
        return {call: many[call] - few[call] for call in CALLS if many[call] != few[call]}

    def arena_bytes(self):
        metadata = json.loads(run("veeline", "inspect", self.artifact, "--json"))
        program, = (program for program in metadata["programs"] if program["name"] == "pipeline")
        return [rank["arena_bytes"] for rank in program["ranks"]]

    def traced_norms(self):
        """The norms of gradients, by stage and parameter: those of each rank."""
        command = " ".join(map(str, [*self.train("traced", 1, "--trace-tensors"), f"> {self.folder}/trace$RANK.txt"]))
        run(sys.executable, LAUNCH, "--within", "100", "--after", "100", self.count, "sh", "-c", command,
            VEELINE_STANDIN_DEVICES=str(self.count))
        lines = {}
        for rank in range(self.count):
            for line in (self.folder / f"trace{rank}.txt").read_text(encoding="utf-8").splitlines():
                if match := re.match(r"\[Rank \d+\] (.*[Gg]radient of .*)", line):
                    lines.setdefault(rank, []).append(match[1])
        return lines


def main():
    build, order, model, work, *options = sys.argv[1:]
    ways = {sums: Way(build, order, model, pathlib.Path(work) / sums, [*options, "--sums", sums]) for sums in ("ordered", "nccl")}
    ordered, nccl = ways.values()
    for way in ways.values():
        way.as_threads()
        way.as_processes("graphs", STEPS, "--check-memory")
        way.as_processes("eager", STEPS, "--eager")
        if way.result("graphs") != way.result("eager"):
            sys.exit(f"graphs and eager steps differ: see {way.folder}")
    if nccl.result("threads") != ordered.result("threads"):
        sys.exit(f"threads differ: see {work}")
    if ordered.result("graphs") != ordered.result("threads"):
        sys.exit(f"ordered sums have other bits than those of threads: see {work}")
    print(f"ordered: {ordered.count} processes have the bits of threads")
    is_exact = nccl.result("graphs") == nccl.result("threads")
    if is_exact != ("EXACT" in os.environ):
        sys.exit(f"NCCL's sums have {'the same' if is_exact else 'other'} bits: see {work}")
    pairs = zip(nccl.result("graphs")[0], nccl.result("threads")[0], strict=True)
    if not all(are_near(found, expected, 1e-4) for found, expected in pairs):
        sys.exit(f"losses or norms are not near those of threads: see {work}")
    # An update of AdamW or Lion depends on the sign of a gradient that is nearly zero.
    if not are_near(elements(nccl.folder / "graphs.st"), elements(nccl.folder / "threads.st"), 5e-3):
        sys.exit(f"parameters are not near those of threads: see {work}")
    print(f"nccl: {'the bits' if is_exact else 'near those'} of threads")
    if "TRACED" in os.environ:
        lines = nccl.traced_norms()
        if len(lines) != nccl.count or any(of_rank != lines[0] for of_rank in lines.values()):
            sys.exit(f"replicas differ: {lines}")
        print(f"{len(lines[0])} gradients are the same in all replicas")
    for name, way in ways.items():
        arenas = [a - b for a, b in zip(way.arena_bytes(), nccl.arena_bytes(), strict=True)]
        print(f"{name}: arenas +{arenas}, a step:", ", ".join(f"{call} {number}" for call, number in way.calls_of_step().items()))


main()
