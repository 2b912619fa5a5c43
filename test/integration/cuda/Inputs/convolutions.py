# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model compiled for a GPU by cuDNN and by matrix products, over the stand-ins.

One artifact does both. Each has to equal its own sequential program bit for bit
and agree with the model that is not cut; losses have to be within 1e-5 of the
host's, or what TOLERANCE says. Options about GPUs are left out there.
"""

import pathlib
import sys

from standin import QUICK, compile_for_gpu, libraries, run
from train import check_freed, for_host, losses, tolerance


def train(command, work, environment):
    """The losses, and the calls of cuDNN's that were made."""
    verified = run(*command, "--verify", **environment)
    print(verified.strip().splitlines()[-1])
    report = work / "report"
    run(*command, "--metrics", work / "cuda.csv", VEELINE_STANDIN_REPORT=str(report), **environment)
    check_freed(report)
    lines = report.read_text(encoding="utf-8").splitlines()
    return losses(work / "cuda.csv"), sorted(line.split()[0] for line in lines if line.startswith("cudnnConvolution"))


def main():
    build, order, model, work, *options = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    device = compile_for_gpu(model, work, options)
    host = work / "host.vee"
    run("veeline", "compile", *QUICK, "-q", model, "-o", host, "--no-reference", *for_host(options))
    environment = {"VEELINE_STANDIN_ORDER": order}
    common = ["--steps", "3", "--synthetic", "fixed"]
    command = ["veeline", "train", device, *common, *libraries(build)]
    without = [option for option in command if not str(option).startswith("--cudnn")]
    by_cudnn, calls = train(command, work, environment)
    by_products, none = train([*without, "--cudnn", "none"], work, environment)
    print("calls:", *calls)
    if none:
        sys.exit(f"called without cuDNN: {none}")
    run("veeline", "train", host, *common, "--metrics", work / "host.csv")
    by_host = losses(work / "host.csv")
    for way, found in (("cuDNN", by_cudnn), ("matrix products", by_products)):
        farthest = max(abs(a - b) / max(abs(b), 1) for a, b in zip(found, by_host, strict=True))
        if not farthest <= tolerance():
            sys.exit(f"losses by {way} are {farthest} from the host's: see {work}")
    print("losses as on the host by both")


if __name__ == "__main__":
    main()
