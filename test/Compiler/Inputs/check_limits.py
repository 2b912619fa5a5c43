"""Compiles a model within limits that are shares of what it takes without, and
says how each is met. Exits with an error where an arena exceeds its limit.

Usage: check_limits.py MODEL ARTIFACT
"""

import json
import re
import subprocess
import sys

MODEL, ARTIFACT = sys.argv[1:]
FLAGS = {"zb-v": ["--chunks-per-stage", "2"], "1f1b": []}


def compile(schedule, *flags):
    """The pipeline, or the error where it is refused."""
    command = ["veeline", "compile", "-q", MODEL, "-o", ARTIFACT, "--no-reference", "--stages", "2", "--microbatches", "4",
               "--schedule", schedule, *FLAGS[schedule], *flags]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return None, result.stderr
    metadata = json.loads(subprocess.run(["veeline", "inspect", "--json", ARTIFACT], check=True, capture_output=True, text=True).stdout)
    return next(program for program in metadata["programs"] if program["name"] == "pipeline"), ""


def arenas(program):
    return [rank["arena_bytes"] for rank in program["ranks"]]


def order(program):
    return [[(op["kind"], op["chunk"], op["microbatch"]) for op in rank["ops"] if op["chunk"] >= 0] for rank in program["ranks"]]


def limited(schedule, limits, *flags):
    program, error = compile(schedule, "--memory-limit", ",".join(map(str, limits)), *flags)
    if program and any(arena > limit for arena, limit in zip(arenas(program), limits)):
        sys.exit(f"{schedule}: arenas {arenas(program)} exceed {limits}")
    return program, error


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


def main():
    plain, _ = compile("zb-v")
    for share in (2, 0.95):
        program, _ = limited("zb-v", [int(arena * share) for arena in arenas(plain)])
        print(f"zb-v, {100 * share:.0f} %:", describe(program, plain))

    none, _ = compile("1f1b", "--recompute", "none", "--partition", "4,4")
    at = lambda *shares: [int(arena * share) for arena, share in zip(arenas(none), shares)]
    cuts = ["--partition", "4,4"]
    print("1f1b, 95 %:", describe(limited("1f1b", at(0.95, 0.95), "--recompute", "none", *cuts)[0], none))
    for name, shares, recompute in (("95 %, auto", (0.95, 0.95), "auto"), ("100 %,90 %, auto", (1, 0.9), "auto"),
                                    ("100 %,90 %, none,auto", (1, 0.9), "none,auto")):
        print(f"1f1b, {name}:", describe(limited("1f1b", at(*shares), "--recompute", recompute, *cuts)[0], none))

    # What one piece less on stage 0 takes.
    moved, _ = compile("1f1b", "--partition", "2,6")
    limits = [int(1.01 * arena) for arena in arenas(moved)]
    program, _ = limited("1f1b", limits)
    print("1f1b, uneven limits:", "fits, other cuts" if program and program["chunks"] != none["chunks"] else "refused")
    print("1f1b, uneven limits, cuts given:", describe(limited("1f1b", limits, *cuts)[0], none))

    _, error = limited("1f1b", [2**31, 10240], *cuts)
    least = int(re.search(r"at least (\d+) bytes", error).group(1))
    below, _ = limited("1f1b", [2**31, least - 1], *cuts)
    exactly, _ = limited("1f1b", [2**31, least], *cuts)
    print("least:", "refused below," if below is None else "fits below,", "fits" if exactly else "refused")


main()
