"""Compiles a model whose stages have several ranks, then once more within
limits that are shares of what the ranks of each stage took at most, and prints
what is different. Exits with an error where an arena exceeds its limit.

Usage: compile_within.py SHARES WIDTHS OUTPUT FLAG...

SHARES and WIDTHS have a number for each stage: 0.9,1 and 2,1.
"""

import json
import os
import subprocess
import sys


def compile(output, flags):
    """The chunks' kept bytes, and of each rank its order and its arena."""
    # See lit.cfg.py.
    quick = os.environ.get("VEELINE_TEST_QUICK", "").split()
    subprocess.run(["veeline", "compile", *quick, "--quiet", "-o", output, *flags], check=True)
    inspect = subprocess.run(["veeline", "inspect", "--json", output], check=True, capture_output=True, text=True)
    program = next(one for one in json.loads(inspect.stdout)["programs"] if one["name"] == "pipeline")
    kept = [chunk["residual_bytes"] for chunk in program["chunks"]]
    order = [[(op["kind"], op["chunk"], op["microbatch"]) for op in rank["ops"] if op["chunk"] >= 0] for rank in program["ranks"]]
    return kept, order, [rank["arena_bytes"] for rank in program["ranks"]]


def main():
    shares, widths, output, *flags = sys.argv[1:]
    widths = [int(width) for width in widths.split(",")]
    flags += ["--stages", str(len(widths)), "--stage-replicas", ",".join(map(str, widths))]
    kept, order, arenas = compile(output, flags + ["--recompute", "none"])
    stages = [stage for stage, width in enumerate(widths) for _ in range(width)]
    limits = [int(float(share) * max(arena for arena, of in zip(arenas, stages) if of == stage))
              for stage, share in enumerate(shares.split(","))]
    less, other, fitted = compile(output, flags + ["--memory-limit", ",".join(map(str, limits)), "--recompute", "auto"])
    if any(arena > limits[stage] for arena, stage in zip(fitted, stages)):
        sys.exit(f"arenas {fitted} exceed {limits}")
    print("order:", "the same" if other == order else "another")
    print("keeps less:", *(chunk for chunk, (a, b) in enumerate(zip(less, kept)) if a < b))


main()
