# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether ranks on GPUs that share out updates get the bits of ranks that make all of them, over the stand-ins.

Usage: shared_updates.py BUILD ORDER MODEL WORK OPTION ...

Compiles with these options, with and without --shard-optimizer, and trains both as threads,
and the former as processes with a GPU each. Losses, norms of gradients and parameters have
to be the same.
"""

import csv
import pathlib
import sys

from standin import LAUNCH, compile_for_gpu, count_ranks, libraries, run


def numbers(path):
    with open(path, encoding="utf-8") as file:
        return [(row["loss"], row["gradient_norm"], row.get("clip_factor")) for row in csv.DictReader(file)]


def main():
    build, order, model, work, *options = sys.argv[1:]
    results = {}

    def add(name, *command, **environment):
        files = (folder / f"{name}.csv", folder / f"{name}.st")
        run(*command, "--metrics", files[0], "--save", files[1], VEELINE_STANDIN_ORDER=order, **environment)
        results[name] = numbers(files[0]), files[1].read_bytes()

    for name, shares in (("whole", []), ("shared", ["--shard-optimizer"])):
        folder = pathlib.Path(work) / name
        folder.mkdir(parents=True, exist_ok=True)
        device = compile_for_gpu(model, folder, [*options, *shares, "--no-reference"])
        clip = ["--clip-norm", "0.05"] if "--clip-sync" in options else []
        train = ["veeline", "train", device, "--steps", "4", "--synthetic", "fixed", *clip, *libraries(build)]
        add(name, *train)
    count = count_ranks(device)
    add("processes", sys.executable, LAUNCH, "--within", "100", "--after", "100", count, *train, VEELINE_STANDIN_DEVICES=str(count))
    for name, result in results.items():
        if result != results["whole"]:
            sys.exit(f"{name}: other losses, norms or parameters: see {work}")
    print(f"{len(results['whole'][0])} steps of {count} ranks have the same bits")


main()
