# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Goes on from checkpoints over the stand-ins: see test/Runtime/Inputs/resume.py, which it runs.

Usage: resume.py BUILD MODEL DATA OPTIONS [OTHER_OPTIONS...]

The first artifact goes on as graphs of threads and issued of processes (in the long suite also one step in flight, issued of threads and
as graphs of processes), then the others. Options are those of compile, DATA those
of train.
"""

import os
import pathlib
import sys

from standin import QUICK, compile_for_gpu, count_ranks, libraries, run

RESUME = pathlib.Path(__file__).parents[3] / "Runtime" / "Inputs" / "resume.py"


def main():
    build, model, data, *options = sys.argv[1:]
    artifacts = []
    for i, one in enumerate(options):
        work = pathlib.Path(f"artifact{i}")
        work.mkdir(exist_ok=True)
        artifact = compile_for_gpu(model, work, ["--no-reference", *one.split()])
        artifacts.append(artifact)
    first, count = artifacts[0], count_ranks(artifacts[0])
    runs = [first, f"{first}+--eager:{count}"]
    if not QUICK:
        runs += [f"{first}+--eager", f"{first}+--steps-in-flight=1", f"{first}:{count}"]
    runs += artifacts[1:]
    print(run(sys.executable, RESUME, *runs, "--", *data.split(), *libraries(build), VEELINE_STANDIN_DEVICES=str(count)), end="")


if __name__ == "__main__":
    main()
