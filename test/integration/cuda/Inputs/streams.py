# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model with a compute stream for each chunk of a rank, over the stand-ins.

Usage: streams.py BUILD MODEL WORK ORDERS OPTION ...

What one compute stream gives, with the same options, is what several have to give, bit for bit: losses, norms and
parameters, in every of the orders, of steps that are issued and of graphs, of threads and of processes with a GPU each.
Prints how many streams the ranks have, and how much larger the largest arena is without the libraries' workspace.
"""

import json
import pathlib
import sys

from standin import LAUNCH, compile_for_gpu, libraries, run
from train import metrics


def read_ranks(artifact):
    metadata = json.loads(run("veeline", "inspect", artifact, "--json"))
    program, = (program for program in metadata["programs"] if program["name"] == "pipeline")
    return program["ranks"] * program["replicas"]


def arena(ranks):
    return max(rank["arena_bytes"] - rank["library_bytes"] for rank in ranks)


def main():
    build, model, work, orders, *options = sys.argv[1:]
    work = pathlib.Path(work)
    made = {}
    for streams in ("one", "chunk"):
        place = work / streams
        place.mkdir(parents=True, exist_ok=True)
        device = compile_for_gpu(model, place, ["--no-reference", *options, "--compute-streams", streams])
        train = ["veeline", "train", device, "--steps", "4", "--synthetic", "fixed", *libraries(build)]
        made[streams] = device, train

    def written(name):
        return ["--metrics", work / f"{name}.csv", "--save", work / f"{name}.st"]

    def expect(name):
        if metrics(work / f"{name}.csv") != metrics(work / "expected.csv"):
            sys.exit(f"{name}: other losses: see {work}")
        if (work / f"{name}.st").read_bytes() != (work / "expected.st").read_bytes():
            sys.exit(f"{name}: other parameters: see {work}")

    _, train = made["one"]
    run(*train, *written("expected"))
    device, train = made["chunk"]
    ranks, before = read_ranks(device), read_ranks(made["one"][0])
    print(f"streams {' '.join(str(rank['compute_streams']) for rank in ranks)}")
    print(f"events {' '.join(str(rank['events']) for rank in ranks)}")
    for rank in ranks:
        if rank["library_bytes"] not in (0, rank["compute_streams"] * 32 << 20):
            sys.exit("the libraries' workspace is not 32 MiB for each stream")
    if arena(ranks) < arena(before):
        sys.exit("several streams take less memory than one")
    print(f"arena {arena(ranks) / arena(before):.2f} times")
    for order in orders.split(","):
        environment = {"VEELINE_STANDIN_ORDER": order}
        for name, more in ((f"{order}-graph", []), (f"{order}-eager", ["--eager"])):
            run(*train, *more, *written(name), "--check-memory", VEELINE_STANDIN_REPORT=str(work / "report"), **environment)
            expect(name)
            if "live 0\n" not in (work / "report").read_text(encoding="utf-8"):
                sys.exit(f"{name}: something was not freed")
        for name, more in ((f"{order}-processes", []), (f"{order}-eager-processes", ["--eager"])):
            output = run(sys.executable, LAUNCH, "--within", "100", "--after", "100", len(ranks), *train, *more, *written(name),
                         VEELINE_STANDIN_DEVICES=str(len(ranks)), **environment)
            if output.count(": exit 0") != len(ranks):
                sys.exit(f"{name}: processes failed:\n{output}")
            expect(name)
    print(f"bits of one stream in {4 * len(orders.split(','))} runs")


if __name__ == "__main__":
    main()
