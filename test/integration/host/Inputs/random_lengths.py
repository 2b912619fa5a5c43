"""Trains random GPTs on text of random lengths, in random ways, and compares.

Usage: random_lengths.py WORK SEED COUNT

Each run is one of lengths.py beside this file: sizes and parts of the model, stages and their ranks, schedule, microbatches, replicas,
strategy of communication and its rules, parts of messages, what is computed again, the bound, its multiple and the
lengths come from the seed, and every step has to be that of sequential execution, bit for bit, and of models of one
length. A run that fails is printed with its command.
"""

import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# By name, chunks of a stage.
SCHEDULES = {"1f1b": 1, "gpipe": 1, "zb-h1": 1, "zb-v": 2, "interleaved-1f1b": 2}


def random_model(draw):
    head = draw.choice([2, 4])
    options = ["--layers", draw.randint(1, 3), "--heads", 2, "--width", 2 * head * draw.randint(1, 2),
               "--position", draw.choice(["rotary", "learned"]), "--norm", draw.choice(["layer", "rms"]),
               "--vocabulary", 128]
    if draw.random() < 0.5:
        options.append("--tied")
    if options[1] > 1 and draw.random() < 0.3:
        options.append("--skip-edge")
    # Learned positions are a table for the bound: a model of another length is another one.
    return options, "learned" not in options


def random_compilation(draw):
    schedule = draw.choice(list(SCHEDULES))
    widths = draw.choice(["2,1", "1,2", "2,2"]) if draw.random() < 0.5 else ""
    microbatches = draw.randint(2, 5)
    if schedule == "interleaved-1f1b":
        ranks = sum(map(int, widths.split(","))) if widths else 2
        microbatches += -microbatches % ranks
    options = ["--stages", 2, "--chunks-per-stage", SCHEDULES[schedule], "--schedule", schedule,
               "--microbatches", microbatches]
    communication = draw.choice(["p2p", "batched", "ring", "overlap"])
    options += ["--communication", communication]
    if communication == "overlap" and draw.random() < 0.5:
        options += ["--verify-communication", "nccl"]
    if draw.random() < 0.5:
        options += ["--replicas", draw.randint(2, 3)]
    if widths:
        options += ["--stage-replicas", widths]
    if draw.random() < 0.3:
        options += ["--split-messages", draw.randint(2, 5)]
    if draw.random() < 0.5:
        options += ["--recompute", draw.choice(["none", "full", "0.5"])]
    return options


def main():
    work, seed, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    replicated = wide = failed = 0
    for number in range(seed, seed + count):
        draw = random.Random(number)
        model, comparable = random_model(draw)
        compilation = random_compilation(draw)
        multiple = draw.randint(1, 4)
        bound = multiple * draw.randint(2, 3)
        lengths = ",".join(str(draw.randint(1, bound)) for _ in range(draw.randint(1, 9)))
        command = [sys.executable, HERE / "lengths.py", work / str(number), lengths, bound, multiple,
                   " ".join(map(str, model)), " ".join(map(str, compilation))]
        if not comparable:
            command.append("--no-static")
        result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        replicated += "--replicas" in compilation
        wide += "--stage-replicas" in compilation
        if result.returncode != 0 or "different from" in result.stdout or "equal to" not in result.stdout:
            failed += 1
            print("failed:", " ".join(f"'{c}'" for c in command), result.stdout, result.stderr, sep="\n")
    print(f"{count} runs, {replicated} with replicas, {wide} with stages of several ranks, {failed} failed")


main()
