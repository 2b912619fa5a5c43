# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model over the stand-ins, one step at a time and in a queue.

Usage: queue.py BUILD MODEL WORK DATA OPTION ...

With one and with two steps in flight, issued and as graphs, in several orders of
streams, as threads and as processes (outside the long suite, as graphs alone in the
second order and of an even number of processes, and issued of an odd one): all have the same parameters and metrics,
those of the sequential program (unless COMPARE is set, and empty), bit for bit. DATA are options of train that name its data, and others.
"""

import os
import pathlib
import re
import sys

from standin import LAUNCH, QUICK, compile_for_gpu, count_ranks, libraries, run
from train import check_freed, metrics

ORDERS = "late", "random:1"
WAYS = [], ["--eager"], ["--eager", "--steps-in-flight", "1"]


def main():
    build, model, work, data, *options = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    device = compile_for_gpu(model, work, ["--no-reference", *options])
    steps = [] if "--steps" in data else ["--steps", "6"]
    train = ["veeline", "train", device, *steps, "--warmup", "3", "--min-lr", "1e-4", *data.split(), *libraries(build)]

    def check(name, launcher, order, *more):
        output = run(*launcher, *train, "--metrics", work / f"{name}.csv", "--save", work / f"{name}.st", *more,
                     VEELINE_STANDIN_ORDER=order, **environment)
        if launcher and len(re.findall(r"^rank \d+: exit 0", output, re.MULTILINE)) != count:
            sys.exit(f"processes failed:\n{output}")
        if metrics(work / f"{name}.csv") != metrics(work / "first.csv"):
            sys.exit(f"{name} has other metrics: see {work}")
        if (work / f"{name}.st").read_bytes() != (work / "first.st").read_bytes():
            sys.exit(f"{name} has other parameters: see {work}")

    count = count_ranks(device)
    environment = {"VEELINE_STANDIN_REPORT": str(work / "report")}
    numRuns = 0
    check("first", [], "late", "--steps-in-flight", "1", *os.environ.get("COMPARE", "--compare-sequential").split())
    for order in ORDERS:
        # Whatever order the random one is, a queue as a graph leaves the most to it.
        for more in WAYS[:2 if order == ORDERS[0] else 1] if QUICK else WAYS:
            check("threads", [], order, *more)
            check_freed(work / "report")
            numRuns += 1
    # Sends and receives run side by side where the artifact says so.
    environment = {"VEELINE_STANDIN_DEVICES": str(count), "VEELINE_STANDIN_UNITS": "2"}
    launcher = [sys.executable, LAUNCH, "--within", "100", "--after", "100", count]
    all = ("late", ["--check-messages"]), ("random:3", ["--eager"]), ("late", ["--check-messages", "--steps-in-flight", "1"])
    for order, more in all[count % 2::2] if QUICK else all:
        check("processes", launcher, order, *more)
        numRuns += 1
    print(f"{numRuns} runs with equal bits")


if __name__ == "__main__":
    main()
