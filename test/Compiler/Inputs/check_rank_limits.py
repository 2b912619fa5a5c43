"""Compiles a model whose stages have several ranks within limits that are
shares of what it takes without, and says how each is met. The arena of every
rank has to be within the limit of its stage.

Usage: check_rank_limits.py MODEL ARTIFACT
"""

import sys

import limits
from limits import arenas, describe

MODEL, ARTIFACT = sys.argv[1:]
STAGE_OF_RANK = [0, 0, 1]


def compile(schedule, *flags):
    return limits.compile(MODEL, ARTIFACT, "--stage-replicas", "2,1", "--microbatches", "5", "--schedule", schedule, *flags)


def most(program):
    """By stage."""
    return [max(arena for arena, stage in zip(arenas(program), STAGE_OF_RANK) if stage == wanted) for wanted in range(2)]


def limited(name, schedule, allowed, *flags):
    program, error = compile(schedule, "--memory-limit", ",".join(map(str, allowed)), *flags)
    if program and any(arena > allowed[stage] for arena, stage in zip(arenas(program), STAGE_OF_RANK)):
        sys.exit(f"{name}: arenas {arenas(program)} exceed {allowed}")
    return program, error


def show(name, schedule, allowed, plain, *flags):
    print(f"{name}:", describe(limited(name, schedule, allowed, *flags)[0], plain))


def main():
    cuts = ["--partition", "3,3"]
    none, _ = compile("1f1b", "--recompute", "none", *cuts)
    at = lambda program, *shares: [int(bytes * share) for bytes, share in zip(most(program), shares)]
    show("1f1b, as much as it takes", "1f1b", at(none, 1, 1), none, "--recompute", "none", *cuts)
    show("1f1b, a byte less", "1f1b", [most(none)[0] - 1, most(none)[1]], none, "--recompute", "none", *cuts)
    show("1f1b, less on stage 0, auto", "1f1b", at(none, 0.9, 1), none, "--recompute", "auto", *cuts)
    show("1f1b, less on stage 1, auto", "1f1b", at(none, 1, 0.9), none, "--recompute", "auto", *cuts)

    # Schedules that have a choice take another order instead.
    for schedule, flags in (("zb-v", ["--chunks-per-stage", "2", "--partition", "2,1,1,2"]), ("auto", cuts)):
        plain, _ = compile(schedule, "--recompute", "none", *flags)
        show(f"{schedule}, less", schedule, at(plain, 0.97, 0.97), plain, "--recompute", "none", *flags)

    # Cuts are moved where they are not given.
    moved, _ = compile("1f1b", "--recompute", "none", "--partition", "2,4")
    uneven = at(moved, 1, 1.02)
    program, _ = limited("cuts", "1f1b", uneven, "--recompute", "none")
    print("1f1b, uneven limits:", "other cuts" if program and program["chunks"] != none["chunks"] else "refused")
    show("1f1b, uneven limits, cuts given", "1f1b", uneven, none, "--recompute", "none", *cuts)

    print("least:", limits.check_least(0, lambda allowed: limited("least", "1f1b", allowed, *cuts)))


main()
