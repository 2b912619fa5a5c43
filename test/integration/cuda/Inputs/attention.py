# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model with attention compiled for a GPU by cuDNN and by kernels, over the stand-ins.

Usage: attention.py BUILD MODEL WORK TOLERANCE MICROBATCHES OPTION ...

One artifact does both, in one plan of memory; another schedule has the same
losses and parameters, bit for bit, of each way. Each has to equal its own sequential program bit for bit
and agree with the model that is not cut; losses have to be within TOLERANCE of the
host's. With --no-deterministic cuDNN is not compared bit for bit.
"""

import pathlib
import re
import sys

from standin import QUICK, compile_for_gpu, libraries, run
from train import check_freed, losses

SCHEDULES = (["--schedule", "1f1b"], ["--schedule", "zb-v", "--chunks-per-stage", "2"])


def train(command, work, name, environment):
    """The calls of cuDNN's that were made, beside their numbers."""
    report = work / f"{name}.report"
    output = run(*command, "--check-memory", "--metrics", work / f"{name}.csv", "--save", work / f"{name}.st",
                 VEELINE_STANDIN_REPORT=str(report), **environment)
    check_freed(report)
    arena = [line.split()[1] for line in output.splitlines() if re.match(r" +\d+ +\d+ ", line)]
    calls = [line.split() for line in report.read_text(encoding="utf-8").splitlines()]
    return {call: int(count) for call, count, *_ in calls if call in ("cudnnBackendExecute", "cuGraphLaunch")}, arena


def main():
    build, model, work, tolerance, microbatches, *options = sys.argv[1:]
    work = pathlib.Path(work)
    deterministic = "--no-deterministic" not in options
    host = work / "host.vee"
    work.mkdir(parents=True, exist_ok=True)
    common = ["--steps", "4", "--synthetic", "fixed"]
    stages = ["--stages", "2", "--microbatches", microbatches]
    run("veeline", "compile", *QUICK, "-q", model, "-o", host, "--no-reference", *stages)
    run("veeline", "train", host, *common, "--metrics", work / "host.csv")
    found = {}
    for number, schedule in enumerate(SCHEDULES):
        own = work / str(number)
        own.mkdir(exist_ok=True)
        device = compile_for_gpu(model, own, [*stages, *schedule, *options])
        environment = {"VEELINE_STANDIN_ORDER": f"random:{number}"}
        command = ["veeline", "train", device, *common, *libraries(build)]
        without = [option for option in command if not str(option).startswith("--cudnn")] + ["--cudnn", "none"]
        for way, train_by in (("cuDNN", command), ("kernels", without)):
            calls, arena = train(train_by, work, f"{way}{number}", environment)
            if ("cudnnBackendExecute" in calls) != (way == "cuDNN") or "cuGraphLaunch" not in calls:
                sys.exit(f"{way}: the calls are {calls}")
            if deterministic:
                print(run(*train_by, "--verify", **environment).strip().splitlines()[-1])
            found.setdefault("arenas", []).append(arena)
            # The norm is added up over ranks, which have other parameters.
            numbers = losses(work / f"{way}{number}.csv"), (work / f"{way}{number}.st").read_bytes()
            if number and deterministic and numbers != found[way]:
                sys.exit(f"{way}: schedules have other numbers: see {work}")
            found[way] = numbers
            farthest = max(abs(a - b) / max(abs(b), 1)
                           for a, b in zip(losses(work / f"{way}{number}.csv"), losses(work / "host.csv"), strict=True))
            if not farthest <= float(tolerance):
                sys.exit(f"losses by {way} are {farthest} from the host's: see {work}")
            print(f"{way}: {calls.get('cudnnBackendExecute', 0)} calls")
        if found["arenas"][-1] != found["arenas"][-2]:
            sys.exit(f"arenas are not the same: {found['arenas']}")
    print("losses as on the host by both, the same by both schedules" if deterministic else "losses as on the host by both")


if __name__ == "__main__":
    main()
