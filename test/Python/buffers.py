"""Usage: buffers.py ARTIFACT

Evaluates between steps with other values of a buffer each time. The rate is 0, so parameters stay 1.
"""

import array
import sys

import veeline
from errors import print_error

batch = {"x": array.array("f", [1, 0, 1, 0])}


def evaluate(trainer):
    return trainer.evaluate(batch)


with veeline.Trainer(sys.argv[1], lr=0) as trainer:
    print_error("not fed", trainer.evaluate, batch)
    print_error("of training", trainer.evaluate, {**batch, "scale": array.array("f", [5, 5])})
    trainer.feed({"scale": array.array("f", [1, 1])})
    first = evaluate(trainer)
    trainer.feed({"scale": array.array("f", [2, 2])})
    print(first, evaluate(trainer), trainer.step(batch))
    trainer.feed({"scale": array.array("f", [6, 6])})
    values = [evaluate(trainer), trainer.step(batch)]
    trainer.feed({"scale": array.array("f", [10, 10])})
    print(*values, evaluate(trainer))
    # A refused value changes nothing.
    print_error("half", trainer.feed, {"scale": array.array("f", [3])})
    print(evaluate(trainer))
