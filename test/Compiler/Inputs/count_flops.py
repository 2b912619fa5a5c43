"""Counts the products of matrices in split backward functions, from textual IR.

Usage: count_flops.py TOKENS < IR

A product that contracts over the TOKENS rows of the activations is one that the
gradient of a weight needs; choose sizes so that no other extent is TOKENS.
Prints a line for each chunk function with its FLOPs by kind.
"""

import re
import sys

FUNCTION = re.compile(
    r"func\.func private @(\w+)_(forward|backward_input|backward_weight)\("
)
PRODUCT = re.compile(
    r"linalg\.(?:batch_)?matmul.* ins\(.* : tensor<([\dx]+)xf32>, tensor<([\dx]+)xf32>\)"
    r" outs\(.* : tensor<([\dx]+)xf32>\)"
)


def count(line):
    """(FLOPs, extent of contraction, whether it is batched), or None."""
    match = PRODUCT.search(line)
    if not match:
        if "matmul" in line or "linalg.contract" in line:
            sys.exit(f"not understood: {line}")
        return None
    a, _, c = [[int(n) for n in group.split("x")] for group in match.groups()]
    is_batched = len(c) == 3
    m, n = c[-2:]
    elements = a[-2] * a[-1]
    if elements % m:
        sys.exit(f"not understood: {line}")
    k = elements // m
    return 2 * m * n * k * (c[0] if is_batched else 1), k, is_batched


def main():
    tokens = int(sys.argv[1])
    totals = {}
    current = None
    for line in sys.stdin:
        match = FUNCTION.search(line)
        if "func.func" in line:
            current = match.groups() if match else None
            if current:
                totals[current] = {"weight": 0, "input": 0, "attention": 0}
        product = current and count(line)
        if product:
            flops, contraction, is_batched = product
            is_weight = contraction == tokens
            kind = "attention" if is_batched else "weight" if is_weight else "input"
            totals[current][kind] += flops
    for (chunk, function), kinds in sorted(totals.items()):
        counts = " ".join(f"{kind}={flops}" for kind, flops in kinds.items())
        print(f"{chunk} {function} {counts}")


if __name__ == "__main__":
    main()
