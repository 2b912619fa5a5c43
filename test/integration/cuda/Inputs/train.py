# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model compiled for a GPU over the stand-ins, and beside it for the host.

The kernels are those that the compiler launches, as their host twins. Every step
has to equal the sequential program bit for bit and agree with the model that is
not cut; losses have to be within 1e-5 of the host's.
"""

import csv
import os
import pathlib
import subprocess
import sys


def run(*command, **environment):
    result = subprocess.run(command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"`{' '.join(map(str, command))}` failed with exit code {result.returncode}:\n{result.stdout}")
    return result.stdout


def losses(path):
    with open(path, encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def main():
    build, order, model, work, *options = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    device, host, dump = work / "cuda.vee", work / "host.vee", work / "dump"
    run("veeline", "compile", "-q", model, "-o", device, "--target", "cuda", "--gpu-chips", "ptx", "--dump-ir", dump, *options)
    run("veeline", "compile", "-q", model, "-o", host, "--no-reference", *options)
    libraries = []
    for module in ("pipeline", "reference"):
        libraries.append(work / f"{module}.so")
        run("veeline-gpu-run", dump / f"{module}-kernels.mlir", "-o", libraries[-1])
    standin = [f"--{name}={build}/test/standin/libveeline-standin-{library}.so"
               for name, library in (("cuda-driver", "cuda"), ("cublaslt", "cublaslt"))]
    environment = {
        "VEELINE_STANDIN_KERNELS": ":".join(map(str, libraries)),
        "VEELINE_STANDIN_ORDER": order,
        "VEELINE_STANDIN_REPORT": str(work / "report"),
    }
    common = ["--steps", "3", "--synthetic", "fixed"]
    verified = run("veeline", "train", device, *common, *standin, "--verify", **environment)
    print(verified.strip().splitlines()[-1])
    run("veeline", "train", device, *common, *standin, "--metrics", work / "cuda.csv", **environment)
    if "live 0\n" not in (work / "report").read_text(encoding="utf-8"):
        sys.exit("something was not freed")
    run("veeline", "train", host, *common, "--metrics", work / "host.csv")
    farthest = max(abs(a - b) / max(abs(b), 1) for a, b in zip(losses(work / "cuda.csv"), losses(work / "host.csv"), strict=True))
    if not farthest <= 1e-5:
        sys.exit(f"losses are {farthest} from the host's: see {work}")
    print("losses as on the host")


if __name__ == "__main__":
    main()
