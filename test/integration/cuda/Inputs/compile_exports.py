# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the models of exports.py for a GPU, in two stages, with everything computed again, and every third one (in the long
suite each) with nothing, too.

Usage: compile_exports.py WORK
"""

import pathlib
import shlex
import sys

from standin import QUICK, run

sys.path.append(str(pathlib.Path(__file__).parents[2] / "host/Inputs"))
import exports  # noqa: E402


def main():
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    for number, (name, model) in enumerate(exports.MODELS.items()):
        source = work / f"{name}.mlir"
        source.write_text(model.write())
        for choice in ("full", "none")[:1 if QUICK and number % 3 else 2]:
            options = [*shlex.split(model.options), "--target", "cuda", "--gpu-chips", "ptx", "--no-reference", "--stages", "2", "--recompute", choice]
            run("veeline", "compile", *QUICK, "-q", source, "-o", work / "model.vee", *options)
        print(f"{name}: compiled")


if __name__ == "__main__":
    main()
