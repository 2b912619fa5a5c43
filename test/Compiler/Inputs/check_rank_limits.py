"""Compiles a model whose stages have several ranks within limits that are
shares of what it takes without, and says how each is met. The arena of every
rank has to be within the limit of its stage.

Usage: check_rank_limits.py MODEL ARTIFACT
"""

import json
import re
import subprocess
import sys

MODEL, ARTIFACT = sys.argv[1:]
STAGE_OF_RANK = [0, 0, 1]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def compile(schedule, *flags):
    """The pipeline, or the error where it is refused."""
    result = run("veeline", "compile", "-q", MODEL, "-o", ARTIFACT, "--no-reference", "--stages", "2", "--stage-replicas", "2,1",
                 "--microbatches", "5", "--schedule", schedule, *flags)
    if result.returncode != 0:
        return None, result.stderr
    metadata = json.loads(run("veeline", "inspect", "--json", ARTIFACT).stdout)
    return next(program for program in metadata["programs"] if program["name"] == "pipeline"), ""


def arenas(program):
    """By rank."""
    return [rank["arena_bytes"] for rank in program["ranks"]]


def most(program):
    """By stage."""
    return [max(arena for arena, stage in zip(arenas(program), STAGE_OF_RANK) if stage == wanted) for wanted in range(2)]


def order(program):
    return [[(op["kind"], op["chunk"], op["microbatch"]) for op in rank["ops"] if op["chunk"] >= 0] for rank in program["ranks"]]


def limited(name, schedule, limits, *flags):
    program, error = compile(schedule, "--memory-limit", ",".join(map(str, limits)), *flags)
    if program and any(arena > limits[stage] for arena, stage in zip(arenas(program), STAGE_OF_RANK)):
        sys.exit(f"{name}: arenas {arenas(program)} exceed {limits}")
    return program, error


def describe(program, plain):
    """How `program` differs from what there is without a limit."""
    if program is None:
        return "refused"
    if program == plain:
        return "as without a limit"
    kept = [[chunk["residual_bytes"] for chunk in one["chunks"]] for one in (program, plain)]
    less = [k for k, (a, b) in enumerate(zip(*kept)) if a < b]
    recompute = f"recompute {' '.join(map(str, less))} more" if less else "recompute as it was"
    return f"{'the same' if order(program) == order(plain) else 'another'} order, {recompute}"


def show(name, schedule, limits, plain, *flags):
    print(f"{name}:", describe(limited(name, schedule, limits, *flags)[0], plain))


def main():
    cuts = ["--partition", "4,4"]
    none, _ = compile("1f1b", "--recompute", "none", *cuts)
    at = lambda program, *shares: [int(bytes * share) for bytes, share in zip(most(program), shares)]
    show("1f1b, as much as it takes", "1f1b", at(none, 1, 1), none, "--recompute", "none", *cuts)
    show("1f1b, a byte less", "1f1b", [most(none)[0] - 1, most(none)[1]], none, "--recompute", "none", *cuts)
    show("1f1b, less on stage 0, auto", "1f1b", at(none, 0.9, 1), none, "--recompute", "auto", *cuts)
    show("1f1b, less on stage 1, auto", "1f1b", at(none, 1, 0.9), none, "--recompute", "auto", *cuts)

    # Schedules that have a choice take another order instead.
    for schedule, flags in (("zb-v", ["--chunks-per-stage", "2", "--partition", "2,2,2,2"]), ("auto", cuts)):
        plain, _ = compile(schedule, "--recompute", "none", *flags)
        show(f"{schedule}, less", schedule, at(plain, 0.97, 0.97), plain, "--recompute", "none", *flags)

    # Cuts are moved where they are not given.
    moved, _ = compile("1f1b", "--recompute", "none", "--partition", "3,5")
    limits = at(moved, 1, 1.02)
    program, _ = limited("cuts", "1f1b", limits, "--recompute", "none")
    print("1f1b, uneven limits:", "other cuts" if program and program["chunks"] != none["chunks"] else "refused")
    show("1f1b, uneven limits, cuts given", "1f1b", limits, none, "--recompute", "none", *cuts)

    # The least that an error says is enough, and a byte less is not.
    _, error = limited("least", "1f1b", [10240, 2**31], *cuts)
    least = int(re.search(r"at least (\d+) bytes", error).group(1))
    below, _ = limited("least", "1f1b", [least - 1, 2**31], *cuts)
    exactly, _ = limited("least", "1f1b", [least, 2**31], *cuts)
    print("least:", "refused below," if below is None else "fits below,", "fits" if exactly else "refused")


main()
