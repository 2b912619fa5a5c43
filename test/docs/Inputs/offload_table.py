"""Prints the table of docs/offloading.md: the planned memory of ranks, without and with offloads.

Usage: offload_table.py PAGE MODEL OPTION ...

Compiles the model twice with these options. Then says how many rows of the table on the
page are those that were printed: numbers may differ by 1 %, as the scratch memory of
libraries depends on the CPU.
"""

import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def plan(model, *options):
    """By rank: MiB of residuals, of the arena and in the host's memory."""
    run("veeline", "compile", "-q", model, *options, "-o", "planned.vee")
    ranks = {}
    for line in run("veeline", "inspect", "planned.vee", "--memory").splitlines():
        if match := re.match(r" +(\d+)  r residuals +\d+ +\S+ +(\S+)", line):
            ranks[int(match[1])] = [float(match[2]), 0.0, 0.0]
        elif match := re.match(r" +(\d+)  arena (\S+) MiB", line):
            ranks[int(match[1])][1] = float(match[2])
        elif match := re.match(r" +(\d+)  host's memory (\S+) MiB", line):
            ranks[int(match[1])][2] = float(match[2])
    return ranks


def numbers(row):
    return [float(cell) for cell in row.strip("|\n ").split("|")]


def is_near(row, other):
    a, b = numbers(row), numbers(other)
    return len(a) == len(b) and all(abs(x - y) <= 0.01 * max(abs(x), 0.1) for x, y in zip(a, b))


def main(page, model, *options):
    before, after = plan(model, *options), plan(model, *options, "--offload", "1GB/s")
    rows = []
    for rank, (residuals, arena, _) in before.items():
        values = [residuals, after[rank][0], after[rank][2], arena, after[rank][1]]
        rows.append(f"| {rank} | " + " | ".join(f"{value:.2f}" for value in values) + " |")
    print("\n".join(rows))
    shown = [line for line in open(page, encoding="utf-8") if re.match(r"\| \d \| \d+\.\d\d \|", line)]
    same = sum(is_near(*pair) for pair in zip(rows, shown)) if len(rows) == len(shown) else 0
    print(f"{len(shown)} rows on the page, {same} of them as planned")


main(*sys.argv[1:])
