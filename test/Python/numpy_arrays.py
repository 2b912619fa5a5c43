"""Usage: numpy_arrays.py ARTIFACT

NumPy's arrays in and out, of every layout, by each of the protocols that it has.
"""

import sys

import numpy

import veeline

order = veeline.schedule.generate("zb-h1", stages=2, microbatches=4)
starts, ends, memory = map(numpy.asarray, order.simulate().times(0))
assert starts.dtype == ends.dtype == numpy.float64 and memory.dtype == numpy.int64
assert (starts[1:] >= ends[:-1]).all()


class DLPackAlone:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


x = numpy.random.default_rng(0).standard_normal((4, 8, 4)).astype(numpy.float32)
y = numpy.full((32, 1), 0.5, numpy.float32)
frozen = x.copy()
frozen.setflags(write=False)
kinds = {
    "whole": x,
    "joined": x.reshape(32, 4),
    "flat": x.ravel(),
    "frozen": frozen,
    "by columns": numpy.asfortranarray(x),
    "strided": numpy.repeat(x, 2, axis=1)[:, ::2],
    "backwards": x[::-1].copy()[::-1],
    "dlpack": DLPackAlone(x),
    "dlpack of a transpose": DLPackAlone(numpy.asfortranarray(x)),
    "buffer": memoryview(x),
}
losses = {}
for name, array in kinds.items():
    with veeline.Trainer(sys.argv[1]) as trainer:
        losses[name] = trainer.step({"x": array, "y": y})
assert len(set(losses.values())) == 1, losses

with veeline.Trainer(sys.argv[1]) as trainer:
    w0 = numpy.asarray(trainer.parameters["w0"])
    assert w0.shape == (4, 16) and w0.dtype == numpy.float32
    trainer.parameters["w0"] = 2 * w0
    assert (numpy.asarray(trainer.parameters["w0"]) == 2 * w0).all()
    # The model in NumPy: a mean over microbatches of sums of squares.
    h = x @ (2 * w0)
    found = (h / (1 + abs(h))) @ numpy.asarray(trainer.parameters["w1"]) - y.reshape(4, 8, 1)
    loss = trainer.step({"x": x, "y": y})
    assert abs(loss - (found ** 2).sum() / 4) < 1e-4 * loss, loss
    for wrong in (x.astype(numpy.float64), x.astype(">f4"), x.astype(numpy.float16), x[:3]):
        try:
            trainer.feed({"x": wrong})
        except veeline.InvalidError as error:
            print(error)
print(f"{len(kinds)} kinds of arrays, one loss")
