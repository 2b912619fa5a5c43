"""Compiles a model for GPUs within limits of what it takes without, and says how each is met.

Usage: check_device_limits.py MODEL ARTIFACT
"""

import re
import sys

import limits
from limits import arenas, describe

MODEL, ARTIFACT = sys.argv[1:]
LIBRARY = 32 << 20


def compile(*flags):
    return limits.compile(MODEL, ARTIFACT, "--target", "cuda", "--gpu-chips", "ptx", "--microbatches", "4", *flags)


def limited(most, *flags):
    program, error = compile("--memory-limit", ",".join(map(str, most)), *flags)
    if program and any(arena > limit for arena, limit in zip(arenas(program), most)):
        sys.exit(f"arenas {arenas(program)} exceed {most}")
    return program, error


def main():
    plain, _ = compile("--recompute", "none")
    _, error = limited([LIBRARY, LIBRARY])
    print("32 MiB:", "refused by the search" if re.search("error: stage [01] needs an arena of at least", error) else error)
    print("least:", limits.check_least(0, limited))
    print("100 %:", describe(limited(arenas(plain), "--recompute", "none")[0], plain))
    if not any(rank["constants"] for rank in plain["ranks"]):
        print("a little less:", describe(limited([arena - 4096 for arena in arenas(plain)], "--recompute", "auto")[0], plain))
        return
    print("constants of", " and ".join(str(sum(-(-constant["bytes"] // 256) * 256 for constant in rank["constants"]))
                                       for rank in plain["ranks"]), "bytes")


main()
