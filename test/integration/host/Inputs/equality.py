"""Compiles small models for many schedules and compares each pipeline, bit for
bit, with the sequential execution of the same chunks, and within rounding with
the model without chunks.

Usage: equality.py SOURCE_DIRECTORY WORK_DIRECTORY [--full] [--jobs N] [--only TEXT]

The full set is the product of schedules, ranks, microbatches and models, each
compared with the model without chunks as well, and some schedules with each other
strategy of communication. The default set has one case of each schedule, with shapes,
models and strategies in turn, and for some of them a second one of another shape with
each strategy in turn. Both sets have some schedules with replicas, and some with stages of
several ranks.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import random
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[3] / "Runtime/Inputs"))
import npy  # noqa: E402

GPT = """--layers 3 --width 16 --heads 2 --sequence 8 --vocabulary 128
         --microbatch-size 2 --mlp-ratio 2""".split()
MLP = ["--widths", "8,12,12,12,12,12,12,12,4", "--microbatch-size", "6"]
CHUNKS_PER_STAGE = {
    "gpipe": 1,
    "1f1b": 1,
    "eager-1f1b": 1,
    "interleaved-1f1b": 2,
    "interleaved-1f1b-remainder": 2,
    "looped-bfs": 2,
    "hanayo": 2,
    "zb-h1": 1,
    "zb-h2": 1,
    "zb-1p": 1,
    "zb-2p": 1,
    "interleaved-zb": 2,
    "zb-v-reference": 2,
    "zb-v": 2,
    "zb-wave": 2,
    "v-half": 2,
    "v-min": 2,
    "dualpipe-v": 2,
    "auto": 2,
}
# The default set has these; schedules-and-models.test has all shapes, of some schedules.
DEFAULT_SHAPES = ((4, 8), (4, 3), (2, 1), (2, 4))
# With every strategy but the default one. The numbers of ranks are those at which
# the previous and the next one are the same, and not.
STRATEGIES = ("p2p", "batched", "ring")
STRATEGY_SCHEDULES = ("gpipe", "1f1b", "eager-1f1b", "interleaved-1f1b", "zb-v")
STRATEGY_SHAPES = ((2, 3), (4, 4))
# With replicas: schedule, ranks of a replica, microbatches, replicas, strategy.
REPLICATED = (
    ("gpipe", 1, 2, 2, "overlap"),
    ("1f1b", 2, 3, 3, "overlap"),
    ("zb-v", 2, 4, 2, "overlap"),
    ("interleaved-1f1b", 2, 4, 2, "ring"),
    ("eager-1f1b", 4, 4, 2, "p2p"),
    ("zb-v", 4, 8, 3, "batched"),
)
# With stages of several ranks: schedule, ranks of each stage, microbatches, replicas,
# strategy.
WIDE = (
    ("gpipe", "2,1,1", 5, 1, "overlap"),
    ("1f1b", "3,1", 7, 1, "overlap"),
    ("zb-h1", "1,2", 4, 1, "overlap"),
    ("zb-v", "2,1,1", 6, 1, "overlap"),
    ("interleaved-1f1b", "2,2", 4, 1, "p2p"),
    ("zb-v", "1,2,1", 5, 1, "batched"),
    ("zb-wave", "2,1", 4, 1, "ring"),
    ("1f1b", "2,3", 3, 2, "overlap"),
    ("auto", "1,3", 6, 1, "overlap"),
)
STAGES = (1, 2, 4)
MICROBATCHES = (1, 3, 4, 8)
STEPS = 2
# Of veeline compile, but for every eighth case: see lit.cfg.py.
QUICK = os.environ.get("VEELINE_TEST_QUICK", "").split()
TIMEOUT = 300  # seconds; a deadlock must not hang the suite


def list_models():
    """Names of models and the arguments of their generators."""
    models = {}
    for element, tied, skip in itertools.product(
        ("f32", "f64"), ("untied", "tied"), (False, True)
    ):
        name = f"gpt-{element}-{tied}" + ("-skip" if skip else "")
        options = GPT + ["--type", element, "--" + tied]
        models[name] = ("gpt", options + (["--skip-edge"] if skip else []))
    models["gpt-bf16-tied"] = ("gpt", GPT + ["--type", "bf16", "--tied"])
    for element in ("f32", "f64"):
        models["mlp-" + element] = ("mlp", MLP + ["--type", element])
    return models


def list_cases(models, full):
    """Tuples of schedule, stages (their number, or the ranks of each), microbatches,
    model, with_reference, strategy, replicas."""
    names = sorted(models, reverse=True)  # Tied models with skip edges first.
    shapes = itertools.product(STRATEGY_SCHEDULES, STRATEGIES, STRATEGY_SHAPES)
    cases = [
        (schedule, *shape, names[i % len(names)], False, strategy, 1)
        for i, (schedule, strategy, shape) in enumerate(shapes)
        # Of the default set: each schedule and each strategy once or twice, shapes in turn.
        if full or i % 7 == 0
    ]
    for i, (schedule, stages, microbatches, replicas, strategy) in enumerate(REPLICATED):
        for model in names if full else (names[i % len(names)],):
            cases.append((schedule, stages, microbatches, model, i % 2 == 0, strategy, replicas))
    for i, (schedule, widths, microbatches, replicas, strategy) in enumerate(WIDE):
        for model in names if full else (names[-1 - i],):
            cases.append((schedule, widths, microbatches, model, i % 2 == 0, strategy, replicas))
    for number, schedule in enumerate(CHUNKS_PER_STAGE):
        shapes = list(itertools.product(STAGES, MICROBATCHES))
        if full:
            cases += [
                (schedule, *shape, model, True, "overlap", 1)
                for shape, model in itertools.product(shapes, models)
            ]
            continue
        shape = DEFAULT_SHAPES[number % len(DEFAULT_SHAPES)]
        model = list(models)[number % len(models)]
        strategy = ("overlap", *STRATEGIES)[number // len(DEFAULT_SHAPES) % 4]
        cases.append((schedule, *shape, model, number % 4 == 0, strategy, 1))
    return cases


def run(*command):
    """Runs a command; its output, or an exception that has it."""
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
    )
    if result.returncode != 0:
        raise RuntimeError(
            f"{' '.join(map(str, command))}\nexit status {result.returncode}\n"
            f"{result.stdout}"
        )
    return result.stdout


def write_data(path, element, shape):
    generator = random.Random(path.name)
    npy.write(path, element, shape, [generator.uniform(-1, 1) for _ in range(shape[0] * shape[1])])


class Models:
    """The generated models: their files, their data, and how many pieces they have."""

    def __init__(self, source, work):
        self.work = work
        self.models = list_models()
        self.data = {}
        self.pieces = {}
        for name, (kind, options) in self.models.items():
            self.generate(source, name, kind, options)

    def path(self, name):
        return self.work / f"{name}.mlir"

    def generate(self, source, name, kind, options):
        generator = source / "examples" / kind / "generate.py"
        run(sys.executable, generator, *options, "-o", self.path(name))
        lines = run("veeline", "inspect", "--pieces", self.path(name)).splitlines()
        self.pieces[name] = sum(1 for line in lines if line.split()[0].isdigit())
        if kind == "gpt":
            self.data[name] = ["--text", source / "LICENSE"]
            return
        element = name.split("-")[1]
        self.data[name] = ["--shuffle", "--drop-last"]
        for argument, width in (("x", 8), ("y", 4)):
            path = self.work / f"{argument}-{element}.npy"
            write_data(path, element, (101, width))
            self.data[name] += ["--data", f"{argument}={path}"]

    def cuts(self, name, chunks):
        """A list for --partition: the same one for each number of chunks."""
        generator = random.Random(f"{name} {chunks}")
        places = sorted(generator.sample(range(1, self.pieces[name]), chunks - 1))
        ends = [0, *places, self.pieces[name]]
        return ",".join(str(b - a) for a, b in zip(ends, ends[1:]))


def check(models, number, case):
    """None, or what went wrong."""
    schedule, stages, microbatches, model, with_reference, strategy, replicas = case
    widths = stages if isinstance(stages, str) else ",".join(["1"] * stages)
    stages = widths.count(",") + 1
    chunks_per_stage = CHUNKS_PER_STAGE[schedule]
    name = f"{schedule}-{widths}-{microbatches}-{model}-{strategy}-{replicas}"
    artifact = models.work / f"{name}.vee"
    compile_command = [
        "veeline", "compile", *(QUICK if number % 8 else []), "-q", models.path(model), "-o", artifact,
        "--stages", str(stages), "--chunks-per-stage", str(chunks_per_stage),
        "--microbatches", str(microbatches), "--schedule", schedule,
        "--partition", models.cuts(model, stages * chunks_per_stage),
        "--communication", strategy, "--replicas", str(replicas),
        "--stage-replicas", widths,
        "--split-messages", str(random.Random(name).choice((1, 1, 2, 7))),
    ]  # fmt: skip
    if not with_reference:
        compile_command.append("--no-reference")
    try:
        run(*compile_command)
        output = run(
            "veeline", "train", artifact, "--verify", "--steps", str(STEPS),
            "--lr", "0.01", *models.data[model],
        )  # fmt: skip
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return f"{case}: {error}"
    finally:
        artifact.unlink(missing_ok=True)
    # A comparison that compares nothing must not pass.
    rows = [line for line in output.splitlines() if "bit for bit" in line]
    if not rows:
        return f"{case}: no gradient was compared\n{output}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose text has this in it")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    models = Models(options.source, options.work)
    cases = [
        case
        for case in list_cases(models.models, options.full)
        if options.only in " ".join(map(str, case))
    ]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        failures = [
            failure
            for failure in pool.map(lambda numbered: check(models, *numbered), enumerate(cases))
            if failure
        ]
    for failure in failures:
        print(failure)
    print(f"{len(cases) - len(failures)} of {len(cases)} pipelines are equal")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
