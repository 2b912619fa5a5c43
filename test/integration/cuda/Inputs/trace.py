# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what --trace-tensors prints of a model on GPUs, over the stand-ins, with what it prints on the host.

Usage: trace.py BUILD MODEL WORK OPTION ...

Each rank has to have the host's lines, with numbers near the host's, as threads; and the same lines as processes.
"""

import math
import pathlib
import re
import sys

from standin import LAUNCH, QUICK, compile_for_gpu, count_ranks, libraries, run

TEST = pathlib.Path(__file__).parents[3]
NUMBER = r"=(-?[0-9.]+(?:e[-+]?[0-9]+)?)"


def lines_of(path, rank):
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(f"[Rank {rank}]")]


def without_numbers(line):
    return re.sub(NUMBER, "", line)


def check_near(found, expected):
    """Everything but numbers is the same; numbers are computed in another order."""
    if without_numbers(found) != without_numbers(expected):
        sys.exit(f"'{found}' is not '{expected}'")
    for a, b in zip(re.findall(NUMBER, found), re.findall(NUMBER, expected), strict=True):
        if not math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-5):
            sys.exit(f"'{found}' is far from '{expected}'")


def trace(path, artifact, metrics, *options, **environment):
    path.write_text(run("veeline", "train", artifact, "--steps", "2", "--synthetic", "fixed", "--trace-tensors",
                        "--metrics", metrics, *options, **environment), encoding="utf-8")


def main():
    build, model, work, *options = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    device = compile_for_gpu(model, work, ["--no-reference", *options])
    host = work / "host.vee"
    run("veeline", "compile", *QUICK, "-q", model, "-o", host, "--no-reference", *options)
    trace(work / "host.txt", host, work / "host.csv")
    trace(work / "threads.txt", device, work / "threads.csv", *libraries(build))
    count, numbered = count_ranks(device), 0
    for rank in range(count):
        expected, found = (lines_of(work / f"{name}.txt", rank) for name in ("host", "threads"))
        if len(found) != len(expected):
            sys.exit(f"rank {rank} has {len(found)} lines, and {len(expected)} on the host: see {work}")
        # Messages are planned by NCCL's rules, in another order.
        for pair in zip(sorted(found, key=without_numbers), sorted(expected, key=without_numbers), strict=True):
            check_near(*pair)
        numbered += len(found)
    print(f"host: {numbered} lines\nthreads: {numbered} lines as on the host")
    command = " ".join(map(str, ("exec veeline train", device, "--steps 2 --synthetic fixed --trace-tensors",
                                 *libraries(build), f"> {work}/rank$RANK.txt")))
    run(sys.executable, LAUNCH, "--within", "100", "--after", "100", count, "sh", "-c", command,
        VEELINE_STANDIN_DEVICES=str(count))
    run(sys.executable, TEST / "Processes/Inputs/same_trace.py", work / "threads.txt",
        *(work / f"rank{rank}.txt" for rank in range(count)))
    print("processes: the lines of threads")
    replicas = options[options.index("--replicas") + 1:][:1] if "--replicas" in options else []
    print(run(sys.executable, TEST / "Runtime/Inputs/check_trace.py", work / "threads.txt", work / "threads.csv", *replicas))


if __name__ == "__main__":
    main()
