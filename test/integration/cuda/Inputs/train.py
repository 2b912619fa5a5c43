# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model compiled for a GPU over the stand-ins, and beside it for the host.

Usage: train.py BUILD ORDER MODEL WORK OPTION ...

The kernels are those that the compiler launches, as PTX. Every step
has to equal the sequential program bit for bit and agree with the model that is
not cut; losses have to be within 1e-5 of the host's, or
what TOLERANCE says; options about GPUs are left out there. Elements of gradients
are limited to CLIP_VALUE, where that is set; TRAIN_OPTIONS are given to all, and STEPS (3) steps are taken. Where there are several
ranks, processes with a GPU each have to have the numbers of threads, bit for bit.
"""

import csv
import os
import pathlib
import re
import shlex
import sys

from standin import LAUNCH, QUICK, compile_for_gpu, count_ranks, libraries, run


def metrics(path):
    """Without times."""
    with open(path, encoding="utf-8") as file:
        return [{name: value for name, value in row.items() if name not in ("seconds", "samples_per_second", "tokens_per_second")}
                for row in csv.DictReader(file)]


def losses(path):
    return [float(row["loss"]) for row in metrics(path)]


def for_host(options):
    """Without those about GPUs."""
    return [option for i, option in enumerate(options)
            if option not in ("--no-deterministic", "--no-epilogues") and not {"--products", "--compute-streams", "--sums"} & set(options[max(i - 1, 0):i + 1])]


def tolerance():
    return float(os.environ.get("TOLERANCE", "1e-5"))


def check_freed(report):
    if "live 0\n" not in report.read_text(encoding="utf-8"):
        sys.exit(f"something was not freed: see {report}")


def train_as_processes(device, count, work, train, environment):
    """The same steps by processes of a GPU each."""
    reports = [f"--environment={rank}:VEELINE_STANDIN_REPORT={work}/report{rank}" for rank in range(count)]
    output = run(sys.executable, LAUNCH, "--within", "100", "--after", "100", *reports, count, *train,
                 "--metrics", work / "processes.csv", "--save", work / "processes.st", "--check-memory",
                 VEELINE_STANDIN_DEVICES=str(count), **environment)
    if len(re.findall(r"^rank \d+: exit 0", output, re.MULTILINE)) != count:
        sys.exit(f"processes failed:\n{output}")
    if metrics(work / "processes.csv") != metrics(work / "cuda.csv"):
        sys.exit(f"processes have other losses: see {work}")
    if (work / "processes.st").read_bytes() != (work / "threads.st").read_bytes():
        sys.exit(f"processes have other parameters: see {work}")
    for rank in range(count):
        check_freed(work / f"report{rank}")
    # What NCCL takes is no zero, and every rank has its own GPU.
    used = re.findall(r"^ +(\d+) +(?:\d+ +){4}([1-9]\d*) +\d+ +on GPU (\d+) \(stand-in\)$", output, re.MULTILINE)
    if [(int(rank), int(gpu)) for rank, _, gpu in used] != [(rank, rank) for rank in range(count)]:
        sys.exit(f"not all GPUs are in the table of memory:\n{output}")
    print(f"{count} processes as threads")


def main():
    build, order, model, work, *options = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    device = compile_for_gpu(model, work, options)
    host = work / "host.vee"
    run("veeline", "compile", *QUICK, "-q", model, "-o", host, "--no-reference", *for_host(options))
    environment = {"VEELINE_STANDIN_ORDER": order}
    common = ["--steps", os.environ.get("STEPS", "3"), "--synthetic", "fixed"]
    if "--loss-scaling" in options:
        common += ["--loss-scale", "256"]
    common += shlex.split(os.environ.get("TRAIN_OPTIONS", ""))
    if "CLIP_VALUE" in os.environ:
        common += ["--clip-value", os.environ["CLIP_VALUE"]]
    train = ["veeline", "train", device, *common, *libraries(build)]
    verified = run(*train, "--verify", **environment)
    print(verified.strip().splitlines()[-1])
    run(*train, "--metrics", work / "cuda.csv", "--save", work / "threads.st",
        VEELINE_STANDIN_REPORT=str(work / "report"), **environment)
    check_freed(work / "report")
    run("veeline", "train", host, *common, "--metrics", work / "host.csv")
    farthest = max(abs(a - b) / max(abs(b), 1) for a, b in zip(losses(work / "cuda.csv"), losses(work / "host.csv"), strict=True))
    if not farthest <= tolerance():
        sys.exit(f"losses are {farthest} from the host's: see {work}")
    print("losses as on the host")
    count = count_ranks(device)
    if count > 1:
        train_as_processes(device, count, work, train, environment)


if __name__ == "__main__":
    main()
