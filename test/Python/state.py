"""Usage: state.py ARTIFACT

Trains with clipping and a rate that goes down, on data that are fed; stops in the middle and goes on from a checkpoint. Where a launcher has
started several processes, each has the whole of the data.
"""

import array
import os
import pathlib
import sys
import warnings

import veeline
from errors import print_error

first = os.environ.get("RANK", "0") == "0"
path = sys.argv[1]
xs, ys = (memoryview(pathlib.Path(name).read_bytes()).cast("f") for name in ("x.bin", "y.bin"))
options = {"lr": 1e-2, "clip_norm": 0.5, "lr_schedule": "linear", "warmup": 2, "steps": 6, "checkpoint": "run", "every": 3, "keep": 1}


def batch(step):
    return {"x": xs[(step - 1) * 128:step * 128], "y": ys[(step - 1) * 32:step * 32]}


def train(trainer, steps):
    for step in steps:
        loss = trainer.step(batch(step))
        if first:
            print(f"step {trainer.steps} loss {loss!r} norm {trainer.gradient_norm!r} rate {trainer.learning_rate!r} "
                  f"factor {trainer.clip_factor!r}")


with veeline.Trainer(path, **options) as trainer:
    train(trainer, range(1, 5))
    trainer.checkpoint()
with warnings.catch_warnings(record=True) as caught, veeline.Trainer(path, **options, resume="run", beta2=0.9) as other:
    print([f"{warning.category.__name__} at {pathlib.Path(warning.filename).name}: {warning.message}" for warning in caught] if first else "")
with veeline.Trainer(path, **options, resume="run") as trainer:
    train(trainer, [5])
    losses = [trainer.evaluate(batch(1)), trainer.evaluate(batch(2))]
    assert trainer.evaluate(batch(1)) == losses[0] == sum(trainer.last_evaluated("loss")) / 4 and losses[0] != losses[1]
    train(trainer, [6])
    after = trainer.evaluate(batch(1))
    # The rate of the last step is 0.
    assert trainer.learning_rate == 0 and after == losses[0], losses
    if first:
        print("evaluated", after)
        print_error("over", trainer.step, batch(1))
        print_error("evaluation", trainer.evaluate, {"z": xs})
        print_error("half", trainer.evaluate, {"x": array.array("f", bytes(512))})
        print_error("rate", trainer.set_learning_rate, float("inf"))
        pathlib.Path("rates.csv").write_text("step,lr\n1,0.1\n", encoding="utf-8")
    trainer.checkpoint()
    trainer.save("resumed.safetensors")
if first:
    names = veeline.trainer_options()
    print("lr_schedule" in names, "resume" in names, "verify" in names, "continue_" in names, sorted(set(options) - set(names)))
    if "RANK" not in os.environ:
        with veeline.Trainer(path, lr_schedule="file:rates.csv", synthetic="fixed", lr_scale={"w0": 0.5, "w1": 2}, drop_last=True) as trainer:
            trainer.step()
            print(trainer.learning_rate)
            print_error("file", trainer.set_learning_rate, 1)
            print_error("no folder", trainer.checkpoint)
        # A name that Python has for itself, written with a _ and as it is.
        for name in ("continue_", "continue"):
            with veeline.Trainer(path, **options, **{name: True}) as trainer:
                print(name, trainer.steps)
        print_error("no keyword", veeline.Trainer, path, lr_=1)
        print_error("pattern", veeline.Trainer, path, lr_scale={"v*": 1})
        print_error("together", veeline.Trainer, path, lr_schedule="constant", min_lr=1)
    print("done")
