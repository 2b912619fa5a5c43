# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints which epilogues the products of chunk functions have, by kind of function.

Usage: epilogues.py MODULE
"""

import collections
import re
import sys


def main():
    found = collections.defaultdict(set)
    with open(sys.argv[1], encoding="utf-8") as module:
        text = module.read()
    table = re.findall(r"\{([^{}]*)\}", re.search(r"pipe\.gemms = \[([^\]]*)\]", text).group(1))
    names = [match.group(1) if (match := re.search(r'epilogue = "(\w+)"', entry)) else None for entry in table]
    for function in re.split(r"^  func\.func ", text, flags=re.MULTILINE)[1:]:
        kind = re.match(r"private @\w+_chunk\d+_(forward|backward|backward_input|backward_weight)\(", function)
        if not kind:
            continue
        constants = dict(re.findall(r"%(\S+) = arith\.constant (\d+) : i32", function))
        for number in re.findall(r"@veeline_gemm\w*\(%\w+, %(\w+),", function):
            if names[int(constants[number])]:
                found[kind.group(1)].add(names[int(constants[number])])
    for kind, epilogues in sorted(found.items()):
        print(f"{kind}: {' '.join(sorted(epilogues))}")


main()
