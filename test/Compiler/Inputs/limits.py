"""What the scripts that compile within limits of memory share."""

import json
import os
import subprocess

# Of veeline compile: see lit.cfg.py.
QUICK = os.environ.get("VEELINE_TEST_QUICK", "").split()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def compile(model, artifact, *flags):
    """The pipeline, or the error where it is refused."""
    result = run("veeline", "compile", *QUICK, "-q", model, "-o", artifact, "--no-reference", "--stages", "2", *flags)
    if result.returncode != 0:
        return None, result.stderr
    metadata = json.loads(run("veeline", "inspect", "--json", artifact).stdout)
    return next(program for program in metadata["programs"] if program["name"] == "pipeline"), ""


def arenas(program):
    """By rank."""
    return [rank["arena_bytes"] for rank in program["ranks"]]


def order(program):
    return [[(op["kind"], op["chunk"], op["microbatch"]) for op in rank["ops"] if op["chunk"] >= 0] for rank in program["ranks"]]


def describe(program, plain):
    """How `program` differs from what there is without a limit."""
    if program is None:
        return "refused"
    if program == plain:
        return "as without a limit"
    kept = [[chunk["residual_bytes"] for chunk in one["chunks"]] for one in (program, plain)]
    less = [k for k, (a, b) in enumerate(zip(*kept)) if a < b]
    count = len(plain["chunks"])
    recompute = "as it was" if not less else "more" if len(less) == count else " ".join(map(str, less)) + " more"
    return f"fits, {'the same' if order(program) == order(plain) else 'another'} order, recompute {recompute}"


def check_least(stage, limited):
    """Whether the least that an error names for `stage` is enough, and a byte less is not; `limited` compiles within limits."""
    limits = [2**31, 2**31]
    limits[stage] = 10240
    _, error = limited(limits)
    least = int(error.split("at least ")[1].split()[0])
    limits[stage] = least - 1
    below, _ = limited(limits)
    limits[stage] = least
    exactly, _ = limited(limits)
    return f"{'refused' if below is None else 'fits'} below, {'fits' if exactly else 'refused'}"
