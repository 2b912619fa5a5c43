# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks into the ranks of a model compiled for a GPU, over the stand-ins: as threads and as processes.

Usage: timeline.py BUILD MODEL WORK OPTION ...

Writes a timeline, threads.json, and a profile, threads.profile, and the same of processes, which has to have as many
events of each kind; and the flight records of a launch that fails.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

from standin import LAUNCH, compile_for_gpu, count_ranks, libraries, run


def count_events(path):
    """How often an operation is on each lane of what was measured."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return collections.Counter((event["tid"], event["name"]) for event in events if event["ph"] == "X" and event["pid"] == 0)


def main():
    build, model, work, *options = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    device = compile_for_gpu(model, work, options)
    train = ["veeline", "train", device, "--steps", "4", "--synthetic", "fixed", *libraries(build)]

    def written(name):
        return ["--timeline", work / f"{name}.json", "--timeline-steps", "2", "--profile", work / f"{name}.profile"]

    print(run(*train, *written("threads")).strip().splitlines()[-1])
    count = count_ranks(device)
    run(sys.executable, LAUNCH, "--within", "100", "--after", "100", count, *train, *written("processes"),
        VEELINE_STANDIN_DEVICES=str(count))
    if count_events(work / "processes.json") != count_events(work / "threads.json"):
        sys.exit(f"processes have other events: see {work}")
    environment = {"VEELINE_STANDIN_FAIL": "cuLaunchKernel:100:700"}
    failed = subprocess.run([*map(str, train), "--flight-recorder", work / "record"], env=os.environ | environment,
                            capture_output=True, text=True)
    if failed.returncode != 1 or "CUDA_ERROR_ILLEGAL_ADDRESS" not in failed.stderr:
        sys.exit(f"it does not fail as it should: {failed.stderr}")


if __name__ == "__main__":
    main()
