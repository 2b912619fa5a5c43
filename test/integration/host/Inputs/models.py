"""Compiles and trains model files by others, and those that exports.py writes.

Each model is imported, cut into as many stages as it has pieces (up to 4), fine
ones where there are fewer than two chunks a stage take, scheduled by zb-v, and trained for 20 steps on one fixed synthetic batch: its
loss must fall by at least a fifth, and be bitwise the loss of the sequential
program at every step. --verify compares the gradients.

With --gradients, its gradients in f64 (--retype) are compared with central
differences instead, at a few elements and along one direction of all
parameters together: relative error at most 1e-6. Two differences, one with
twice the step of the other, that do not agree with each other say nothing: a
kink is near, and another element is tried. Three elements have to be right.
--verify then compares the gradients of the pipeline with those
of the sequential program bit by bit.

Usage: models.py [--gradients] DIRECTORY WORK [NAME...]
"""

import array
import json
import mmap
import os
import pathlib
import random
import shlex
import shutil
import struct
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parents[3] / "Runtime/Inputs"))
import exports  # noqa: E402
import npy  # noqa: E402

# Of veeline compile, for what exports.py writes: see lit.cfg.py. Models by others are compiled as users do.
QUICK = os.environ.get("VEELINE_TEST_QUICK", "").split()
STEPS = 20
MICROBATCHES = 4
# A gradient is what a step takes off the parameters: with a large power of two
# as the rate, little of it is lost to their own size.
RATE = 2**20
# Per file: options of compile, learning rate, and the range of data by name.
MODELS = {
    "mlp-3x1024": (["--loss", "mse"], 0.01, {}),
    "mnist-mlp": (["--loss", "cross-entropy"], 0.01, {}),
    "lenet-tosa": (["--loss", "cross-entropy"], 0.01, {}),
    "llama-mlp-bf16": (["--loss", "mse", "--optimizer", "sgd"], 0.5, {}),
    "qwen-ffn-tosa": (["--loss", "mse"], 0.0002, {}),
    "multi-head-attention": (["--loss", "mse"], 0.01, {}),
    # A layer without weights of its own: its caches are trained.
    "gqa-attention-tosa": (["--loss", "mse", "--params", "1,2"], 0.1, {}),
    "mobilenet": (["--loss", "cross-entropy"], 0.001, {}),
    "mobilebert": (["--loss", "mse"], 0.001, {"input_word_ids": (0, 30000), "input_type_ids": (0, 1), "input_mask": (1, 1)}),
    **{name: (shlex.split(model.options), 0.03, model.ranges) for name, model in exports.MODELS.items()},
}


def compile_model(name, source, *options):
    """Returns the time that it took."""
    quick = QUICK if name in exports.MODELS else []
    return run("veeline", "compile", *quick, str(source), *options)[1]


def run(*command):
    began = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexits with {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-4000:]}")
    return result.stdout, time.monotonic() - began


def make_data(batch, microbatches, ranges, path):
    """The samples of so many microbatches."""
    random.seed(batch["name"])
    shape = [batch["shape"][0] * microbatches] + batch["shape"][1:]
    count = 1
    for extent in shape:
        count *= extent
    low, high = ranges.get(batch["name"], (0, 9))
    # Classes and the rows of tables.
    high = min(high, batch["range"][1] - 1) if batch.get("range") else high
    if batch["type"].startswith("f"):
        whole = batch["name"] in ranges
        values = [float(random.randint(low, high)) if whole else random.gauss(0, 1) for _ in range(count)]
    else:
        values = [random.randint(low, high) for _ in range(count)]
    npy.write(path, batch["type"], shape, values)


def count_stages(source, options):
    """As many as the model has pieces, and two fine pieces for each."""

    def count(pieces):
        table, _ = run("veeline", "inspect", pieces, str(source), *options[:2], *[o for o in options[2:] if options[2:3] == ["--params"]])
        return len(table.strip().splitlines()) - 2

    return min(4, max(count("--pieces"), count("--fine-pieces") // 2))


def make_all_data(metadata, ranges, prefix, microbatches):
    """Files for everything that an artifact reads, as options of train."""
    data = []
    for inputs, count in ((metadata["batches"], microbatches), (metadata["buffers"], 1)):
        for value in inputs:
            path = pathlib.Path(f"{prefix}.{value['name']}.npy")
            make_data(value, count, ranges, path)
            data += ["--data", f"{value['name']}={path}"]
    return data


def train(name, source, work):
    options, rate, ranges = MODELS[name]
    stages = count_stages(source, options)
    artifact = work / f"{name}.vee"
    compiled = compile_model(name, source, "-o", str(artifact), "--stages", str(stages), "--chunks-per-stage", "2", "--schedule", "zb-v",
                             "--microbatches", str(MICROBATCHES), "--no-reference", "--quiet", *options)
    metadata = json.loads(run("veeline", "inspect", "--json", str(artifact))[0])
    data = make_all_data(metadata, ranges, work / name, MICROBATCHES)
    run("veeline", "train", str(artifact), "--verify", "--steps", "1", *data)
    metrics = work / f"{name}.csv"
    _, trained = run("veeline", "train", str(artifact), "--steps", str(STEPS), "--lr", str(rate), "--metrics", str(metrics),
                     "--compare-sequential", *data)
    rows = [line.split(",") for line in metrics.read_text().splitlines()]
    column = rows[0].index("loss")
    losses = [float(row[column]) for row in rows[1:]]
    assert len(losses) == STEPS, losses
    fell = 1 - losses[-1] / losses[0]
    print(f"{name}: {stages} stages, {len(metadata['params'])} parameters, compiled in {compiled:.1f} s, loss {losses[0]:.4f} -> {losses[-1]:.4f} "
          f"in {trained:.1f} s", flush=True)
    if not fell >= 0.2:
        sys.exit(f"{name}: the loss falls by {100 * fell:.1f} %, expected at least 20 %: {losses}")


class Parameters:
    """A .safetensors file of f64: `values` reads those that are asked for."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.begin = 8 + struct.unpack("<Q", self.file[:8])[0]
        header = json.loads(self.file[8 : self.begin])
        self.places = {
            name: [offset // 8 for offset in entry["data_offsets"]] for name, entry in header.items() if name != "__metadata__"
        }
        self.values = memoryview(self.file)[self.begin :].cast("d")

    def write(self, changes):
        """With `changes`, a dict of index to difference or a list of all."""
        path = self.path.with_suffix(".changed")
        if not isinstance(changes, dict):
            path.write_bytes(self.file[: self.begin] + array.array("d", map(float.__add__, self.values, changes)).tobytes())
            return path
        # Files are large: only what differs is written.
        if not path.exists():
            shutil.copy(self.path, path)
        with open(path, "r+b") as file:
            for index, change in changes.items():
                file.seek(self.begin + 8 * index)
                file.write(struct.pack("<d", self.values[index] + change))
        return path

    def restore(self, changes):
        """Takes back what `write` changed last."""
        if isinstance(changes, dict):
            self.write(dict.fromkeys(changes, 0.0))
        else:
            self.path.with_suffix(".changed").unlink()


def choose_elements(parameters, gradient, smooth):
    """Elements with a gradient: one of each parameter, then further ones of each."""
    named = list(parameters.places.items())
    random.shuffle(named)
    # First one that has no kink after it.
    named.sort(key=lambda entry: entry[0] not in smooth)
    chosen = set()
    for _, (begin, end) in named * 6:
        index = max(random.sample(range(begin, end), min(50, end - begin)), key=lambda i: abs(gradient(i)))
        if gradient(index) and index not in chosen:
            chosen.add(index)
            yield {index: 1.0}


def difference(parameters, direction, size, loss_of):
    """The derivative along the direction, of the fourth order in `size`."""
    losses = {}
    for step in (-2, -1, 1, 2):
        if isinstance(direction, dict):
            changes = {index: step * size * change for index, change in direction.items()}
        else:
            changes = [step * size * change for change in direction]
        losses[step] = loss_of(parameters.write(changes))
    parameters.restore(direction)
    near, far = (losses[1] - losses[-1]) / (2 * size), (losses[2] - losses[-2]) / (4 * size)
    return near, (4 * near - far) / 3


def check_gradients(name, source, work, elements=3):
    options, _, ranges = MODELS[name]
    options = [o for o in options if o not in ("--optimizer", "sgd")]
    artifact, saved, metrics = work / f"{name}.vee", work / f"{name}.safetensors", work / f"{name}.csv"
    stages = count_stages(source, options)
    compile_model(name, source, "-o", str(artifact), "--stages", str(stages), "--chunks-per-stage", "2", "--schedule", "zb-v",
                  "--microbatches", "2", "--no-reference", "--quiet", "--retype", "f64", "--optimizer", "sgd", *options)
    metadata = json.loads(run("veeline", "inspect", "--json", str(artifact))[0])
    assert all(param["type"] == "f64" for param in metadata["params"])
    data = make_all_data(metadata, ranges, work / name, 2)
    run("veeline", "train", str(artifact), "--verify", "--steps", "1", *data)

    def step(rate, *more):
        run("veeline", "train", str(artifact), "--steps", "1", "--lr", rate, "--weight-decay", "0", "--metrics", str(metrics), *more, *data)
        rows = [line.split(",") for line in metrics.read_text().splitlines()]
        return float(rows[1][rows[0].index("loss")])

    random.seed(name)
    step("0", "--save", str(saved))
    parameters = Parameters(saved)
    moved = work / f"{name}.moved"
    step(str(RATE), "--init", str(saved), "--save", str(moved))
    after = Parameters(moved).values

    def gradient(index):
        return (parameters.values[index] - after[index]) / RATE

    kinks, worst = 0, 0

    def is_right(direction, sizes):
        """Whether differences agree; they need not where a kink is near."""
        nonlocal kinks, worst
        dense = enumerate(direction) if isinstance(direction, list) else direction.items()
        expected = sum(gradient(index) * change for index, change in dense)
        # A wrong gradient agrees with the differences of no step.
        for size in sizes:
            near, found = difference(parameters, direction, size, lambda path: step("0", "--init", str(path)))
            if abs(found - expected) <= 1e-6 * abs(expected):
                worst = max(worst, abs(found - expected) / abs(expected))
                return True
        if abs(near - found) <= 1e-6 * abs(found):
            sys.exit(f"{name}: the gradient is {expected}, differences say {found} (of the second order {near})")
        kinks += 1
        return False

    # What makes the classes.
    classes = [batch["range"][1] for batch in metadata["batches"] if batch["name"] == "labels"]
    smooth = [param["name"] for param in metadata["params"] if param["shape"][-1] in classes]
    # Where a kink is near, another element is tried.
    checked = 0
    for direction in choose_elements(parameters, gradient, smooth):
        checked += is_right(direction, (1e-4, 1e-6))
        if checked == elements or kinks > 2 * elements:
            break
    if checked < elements:
        sys.exit(f"{name}: {checked} derivatives by elements are right and {kinks} are near a kink; {elements} were to be right")
    if len(parameters.values) <= 1_000_000:
        checked += is_right([random.gauss(0, 1) for _ in parameters.values], (1e-6,))
    print(f"{name}: {stages} stages, {checked} derivatives are right, {kinks} are near a kink; relative error {worst:.1e}", flush=True)
    for path in work.glob(f"{name}.*"):
        path.unlink()


def main():
    arguments = [a for a in sys.argv[1:] if a != "--gradients"]
    directory, work = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    work.mkdir(parents=True, exist_ok=True)
    for name in arguments[2:] or [name for name in MODELS if (directory / f"{name}.mlir").exists()]:
        if "--gradients" in sys.argv:
            check_gradients(name, directory / f"{name}.mlir", work)
        else:
            train(name, directory / f"{name}.mlir", work)


if __name__ == "__main__":
    main()
