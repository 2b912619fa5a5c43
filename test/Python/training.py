"""Usage: training.py ARTIFACT STEPS

Trains on x.bin and y.bin by veeline.Trainer, prints each step, and writes params.safetensors. Gives the values of a step as one kind of
array after another. Checks the rest of veeline.Trainer on the way.
"""

import array
import ctypes
import pathlib
import struct
import sys
import threading

import veeline
from errors import print_error
from veeline import _arrays

path, steps = sys.argv[1], int(sys.argv[2])
xs = memoryview(pathlib.Path("x.bin").read_bytes()).cast("f")
ys = memoryview(pathlib.Path("y.bin").read_bytes()).cast("f")


class Interface:
    """An array that has __array_interface__ alone, with its dimensions in the other order in memory."""

    def __init__(self, rows):
        self.memory = array.array("f", [row[k] for k in range(len(rows[0])) for row in rows])
        address, _ = self.memory.buffer_info()
        self.__array_interface__ = {"version": 3, "typestr": "<f4", "shape": (len(rows), len(rows[0])), "data": (address, True),
                                    "strides": (4, 4 * len(rows))}


class DLTensor(ctypes.Structure):
    """A DLManagedTensor, by the header of DLPack, written here anew."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class DLPack:
    """An array that has __dlpack__ alone, behind 4 bytes of something else."""

    def __init__(self, values, shape, device=1, bits=32):
        self.memory = array.array("f", [99, *values])
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.device = device
        self.tensor = DLTensor(self.memory.buffer_info()[0], device, 0, len(shape), 2, bits, 1, ctypes.addressof(self.shape), None, 4)

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self):
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


class NoAddress(array.array):
    """Its data is that of the buffer protocol."""
    __array_interface__ = {"version": 3, "typestr": "<f4", "shape": (2,), "data": None}


def arrays(step):
    """x and y of 4 microbatches of 8 samples."""
    x, y = xs[(step - 1) * 128:step * 128], ys[(step - 1) * 32:step * 32]
    rows = [list(x[i:i + 4]) for i in range(0, 128, 4)]
    kinds = [
        (x, y),
        (array.array("f", x), [[value] for value in y]),
        (Interface(rows), struct.pack("32f", *y)),
        (DLPack(x, (4, 8, 4)), DLPack(y, (32, 1))),
        (rows, list(y)),
        (x.cast("B").cast("f", [4, 8, 4]), y.cast("B").cast("f", [32, 1])),
    ]
    values = kinds[step % len(kinds)]
    return {"x": values[0], "y": memoryview(values[1]).cast("f") if isinstance(values[1], bytes) else values[1]}


trainer = veeline.Trainer(path, lr=1e-2, momentum=0)
other = veeline.Trainer(pathlib.Path(path).read_bytes(), lr=1e-2, momentum=0, seed=7)
print(*trainer.batches.values(), *trainer.parameters.info.values(), *trainer.results.values(), sep=", ")
print_error("not fed", trainer.step)
print_error("list", trainer.step, [xs])
print_error("rate", trainer.set_learning_rate, "x")
print(repr(trainer))
print_error("no array", trainer.step, {"x": object()})
print_error("type", trainer.step, {"x": array.array("d", bytes(8 * 128))})
print_error("shape", trainer.step, {"x": xs[:128].cast("B").cast("f", [2, 16, 4])})
print_error("ragged", trainer.step, {"y": [[1.0], [1.0, 2.0]]})
print_error("text", trainer.step, {"y": ["a"] * 32})
print_error("flags", _arrays.to_bytes, [True, 0, 2], "i1", [(3,)], "argument 'mask'")
assert _arrays.to_bytes([True, 0, 1], "i1", [(3,)], "") == b"\1\0\1"
assert _arrays.to_bytes(NoAddress("f", [1, 2]), "f32", [(2,)], "") == struct.pack("2f", 1, 2)
print_error("device", trainer.step, {"y": DLPack(ys[:32], (32, 1), device=2)})
print_error("half", trainer.step, {"y": DLPack(ys[:32], (32, 1), bits=16)})
print_error("argument", trainer.step, {"z": xs})
print_error("result", trainer.last, "accuracy")
print_error("no step", trainer.last, "loss")
print_error("file", veeline.Trainer, "none.vee")
print_error("no file", veeline.Trainer, None)
print_error("no file", trainer.save, None)
print_error("bytes", veeline.Trainer, b"text")
print_error("option", veeline.Trainer, path, rate=1)
print_error("other name", veeline.Trainer, path, learning_rate=1e-2)
print_error("written otherwise", veeline.Trainer, path, max_grad_norm=1)
print_error("of compiling", veeline.Trainer, path, optimizer="sgd")
print_error("evaluation", trainer.evaluate, {"x": xs[:128], "y": ys[:32]})
for access in (lambda: trainer.parameters["w9"], lambda: trainer.parameters.__setitem__("w00", [1.0])):
    try:
        access()
        print("no parameter: nothing")
    except KeyError as error:
        print(f"no parameter: {error}")
print_error("value", veeline.Trainer, path, lr=-1)
print_error("source", veeline.Trainer, path, data={"x": "x.txt"})
print_error("parameter", trainer.parameters.__setitem__, "w0", [1.0] * 3)
assert "w2" not in trainer.parameters and list(trainer.parameters) == ["w0", "w1"] and trainer.microbatches == 4

for step in range(1, steps + 1):
    batch = arrays(step)
    if step == steps:
        for name, value in trainer.parameters.items():
            assert value.shape == trainer.parameters.info[name].shape and value.tolist() != other.parameters[name].tolist()
            other.parameters[name] = value
            assert value.tolist() == other.parameters[name].tolist()
    loss = trainer.step(batch)
    print(f"step {step} loss {loss!r} norm {trainer.gradient_norm!r}")
    assert sum(trainer.last("loss")) / 4 == loss
    assert (other.step(batch) == loss) == (step == steps)
assert trainer.steps == steps
trainer.save("params.safetensors")
before = other.parameters["w0"].tolist()
other.set_learning_rate(0)
other.step(arrays(1))
assert other.parameters["w0"].tolist() == before

# Data of the library's own, beside those that are fed; and several threads.
with veeline.Trainer(path, data={"x": "x.npy"}) as mixed:
    threads = [threading.Thread(target=mixed.step, args=({"y": list(ys[:32])},)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mixed.steps == 4
print_error("closed", mixed.step)
try:
    mixed.lr = 1e-3
except AttributeError as error:
    print("attribute:", error)
print("done")
