"""Compiles a model within limits that are shares of what it takes without, and
says how each is met. Exits with an error where an arena exceeds its limit.

Usage: check_limits.py MODEL ARTIFACT
"""

import sys

import limits
from limits import arenas, describe

MODEL, ARTIFACT = sys.argv[1:]
FLAGS = {name: ["--chunks-per-stage", "2"] for name in ("zb-v", "zb-loop", "auto")} | {"1f1b": []}


def compile(schedule, *flags):
    return limits.compile(MODEL, ARTIFACT, "--microbatches", "4", "--schedule", schedule, *FLAGS[schedule], *flags)


def limited(schedule, most, *flags):
    program, error = compile(schedule, "--memory-limit", ",".join(map(str, most)), *flags)
    if program and any(arena > limit for arena, limit in zip(arenas(program), most)):
        sys.exit(f"{schedule}: arenas {arenas(program)} exceed {most}")
    return program, error


def main():
    plain, _ = compile("zb-v")
    for share in (2, 0.95):
        program, _ = limited("zb-v", [int(arena * share) for arena in arenas(plain)])
        print(f"zb-v, {100 * share:.0f} %:", describe(program, plain))

    none, _ = compile("1f1b", "--recompute", "none", "--partition", "3,3")
    at = lambda *shares: [int(arena * share) for arena, share in zip(arenas(none), shares)]
    cuts = ["--partition", "3,3"]
    print("1f1b, 95 %:", describe(limited("1f1b", at(0.95, 0.95), "--recompute", "none", *cuts)[0], none))
    for name, shares, recompute in (("95 %, auto", (0.95, 0.95), "auto"), ("100 %,90 %, auto", (1, 0.9), "auto"),
                                    ("100 %,90 %, none,auto", (1, 0.9), "none,auto")):
        print(f"1f1b, {name}:", describe(limited("1f1b", at(*shares), "--recompute", recompute, *cuts)[0], none))

    # What one piece less on stage 0 takes.
    moved, _ = compile("1f1b", "--partition", "2,4")
    uneven = [int(1.01 * arena) for arena in arenas(moved)]
    program, _ = limited("1f1b", uneven)
    print("1f1b, uneven limits:", "fits, other cuts" if program and program["chunks"] != none["chunks"] else "refused")
    print("1f1b, uneven limits, cuts given:", describe(limited("1f1b", uneven, *cuts)[0], none))

    # Schedules that search for their orders.
    for schedule in ("zb-loop", "auto"):
        none, _ = compile(schedule, "--recompute", "none")
        for share, recompute in ((0.9, "none"), (0.8, "auto")):
            # The longest search, for whose parts there is one of each schedule.
            if limits.QUICK and (schedule, recompute) == ("auto", "auto"):
                continue
            program, _ = limited(schedule, [int(share * max(arenas(none)))] * 2, "--recompute", recompute)
            print(f"{schedule}, {100 * share:.0f} %, {recompute}:", "fits" if program else "refused")

    print("least:", limits.check_least(1, lambda most: limited("1f1b", most, *cuts)))


main()
