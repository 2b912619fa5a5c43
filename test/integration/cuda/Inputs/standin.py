# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of compiled models over the stand-ins share."""

import json
import os
import pathlib
import re
import subprocess
import sys

LAUNCH = pathlib.Path(__file__).parents[3] / "Processes" / "Inputs" / "launch.py"


# Of veeline compile: see lit.cfg.py.
QUICK = os.environ.get("VEELINE_TEST_QUICK", "").split()


def run(*command, **environment):
    result = subprocess.run(list(map(str, command)), env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"`{' '.join(map(str, command))}` failed with exit code {result.returncode}:\n{result.stdout}")
    return result.stdout


def libraries(build):
    """The options that name the stand-ins."""
    names = (("cuda-driver", "cuda"), ("cublaslt", "cublaslt"), ("cudnn", "cudnn"), ("nccl", "nccl"))
    return [f"--{name}={build}/test/standin/libveeline-standin-{library}.so" for name, library in names]


# Of all artifacts of a test, whose kernels mostly are the same: libraries, and the names of what these have.
twins, known = [], set()


def compile_for_gpu(model, work, options):
    """The artifact, and the libraries of its kernels' twins."""
    device, dump = work / "cuda.vee", work / "dump"
    run("veeline", "compile", *QUICK, "-q", model, "-o", device, "--target", "cuda", "--gpu-chips", "ptx", "--dump-ir", dump, *options)
    for module in ("pipeline", "reference"):
        kernels = dump / f"{module}-kernels.mlir"
        names = set(re.findall(r"gpu\.func @(\w+)", kernels.read_text(encoding="utf-8"))) if kernels.exists() else set()
        if not names <= known:
            library = work / f"twins{len(twins)}.so"
            # Models of tests run for less time than optimising takes.
            run("veeline-gpu-run", "-O0", kernels, "-o", library, *(f"--without={other}" for other in twins))
            twins.append(library.resolve())
            known.update(names)
    return device, {"VEELINE_STANDIN_KERNELS": ":".join(map(str, twins))}


def count_ranks(artifact):
    metadata = json.loads(run("veeline", "inspect", artifact, "--json"))
    program, = (program for program in metadata["programs"] if program["name"] == "pipeline")
    return len(program["ranks"]) * program.get("replicas", 1)
