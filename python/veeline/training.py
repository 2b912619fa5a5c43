# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Artifacts that a program trains, which has the loop over the data.

    with veeline.Trainer("net.vee", learning_rate=1e-2) as trainer:
        for x, y in data:
            loss = trainer.step({"x": x, "y": y})
        w0 = numpy.asarray(trainer.parameters["w0"])
"""

import collections.abc
import ctypes
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from veeline import _arrays
from veeline.compiler import Artifact
from veeline._library import Handle, InvalidError, Library, Status, text


class _Options(ctypes.Structure):
    _fields_ = [("program", c_char_p), ("data", POINTER(c_char_p)), ("num_data", c_size_t), ("other_data", c_char_p), ("seed", c_uint64),
                ("init", c_char_p), ("learning_rate", c_double), ("weight_decay", c_double), ("beta1", c_double), ("beta2", c_double),
                ("epsilon", c_double), ("module_directory", c_char_p)]


class _TensorInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("shape", POINTER(c_int64)), ("rank", c_size_t), ("bytes", c_size_t)]


_library = Library("veeline-c-training", [
    ("veelineTrainingOptionsGet", _Options, []),
    ("veelineTrainingOpen", Status, [c_char_p, POINTER(_Options), POINTER(Handle)]),
    ("veelineTrainingOpenInMemory", Status, [c_char_p, c_size_t, POINTER(_Options), POINTER(Handle)]),
    ("veelineTrainingDestroy", None, [Handle]),
    ("veelineTrainingNumTensors", c_size_t, [Handle, c_int]),
    ("veelineTrainingGetTensorInfo", Status, [Handle, c_int, c_size_t, POINTER(_TensorInfo)]),
    ("veelineTrainingNumMicrobatches", c_int32, [Handle]),
    ("veelineTrainingFeed", Status, [Handle, c_char_p, c_char_p, c_size_t]),
    ("veelineTrainingStep", Status, [Handle, POINTER(c_double)]),
    ("veelineTrainingSetLearningRate", None, [Handle, c_double]),
    ("veelineTrainingNumSteps", c_int64, [Handle]),
    ("veelineTrainingGradientNorm", c_double, [Handle]),
    ("veelineTrainingGetResult", Status, [Handle, c_size_t, POINTER(c_double), c_size_t]),
    ("veelineTrainingGetParameter", Status, [Handle, c_size_t, c_void_p, c_size_t]),
    ("veelineTrainingSetParameter", Status, [Handle, c_size_t, c_char_p, c_size_t]),
    ("veelineTrainingSave", Status, [Handle, c_char_p]),
])
_PARAMETER, _BATCH, _BUFFER, _RESULT = range(4)


class Tensor:
    """What a parameter, an argument or a result is; of an argument the shape is that of one microbatch."""

    def __init__(self, index, info):
        self.index, self.bytes = index, info.bytes
        self.name, self.type = info.name.decode(), info.type.decode()
        self.shape = tuple(info.shape[:info.rank])

    def __repr__(self):
        return f"{self.name}: {_arrays.describe(self.type, self.shape)}"


class Parameters(collections.abc.Mapping):
    """The parameters by name. A value that is read is a copy, a memoryview with type and shape; a value that is set is any array."""

    def __init__(self, trainer):
        self._trainer = trainer
        self.info = trainer._tensors(_PARAMETER)

    def __iter__(self):
        return iter(self.info)

    def __len__(self):
        return len(self.info)

    def __getitem__(self, name):
        tensor = self.info[name]
        data = bytearray(tensor.bytes)
        self._trainer._call("veelineTrainingGetParameter", tensor.index, (ctypes.c_char * len(data)).from_buffer(data), len(data))
        return _arrays.from_bytes(data, tensor.type, tensor.shape)

    def __setitem__(self, name, value):
        tensor = self.info[name]
        data = _arrays.to_bytes(value, tensor.type, [tensor.shape], f"parameter '{name}'")
        self._trainer._call("veelineTrainingSetParameter", tensor.index, data, len(data))


class Trainer:
    """An artifact with its parameters: the path of a file, an Artifact, or its bytes.

    A file must stay as it is until the trainer is closed, and so must the files of `data`: to replace one, write another and rename it.
    They are mapped into memory, and one that is truncated ends the process with SIGBUS.

    Arguments of the model that `data` does not name (a dict of what `veeline train --data` takes: {"x": "x.npy"}) are given to `step`, or
    are random where `other_data` is "random" or "random:fixed". `options` are seed, init, learning_rate, weight_decay, beta1, beta2 and
    epsilon, as of `veeline train`.
    """

    def __init__(self, artifact, *, program="pipeline", data=None, other_data="fed", **options):
        self._lock = threading.RLock()
        given = _library.call("veelineTrainingOptionsGet")
        specs = [text(f"{name}={os.fsdecode(source)}") for name, source in (data or {}).items()]
        given.program, given.other_data = text(program), text(other_data)
        given.data, given.num_data = (c_char_p * len(specs))(*specs), len(specs)
        for name, value in options.items():
            if name not in ("seed", "init", "learning_rate", "weight_decay", "beta1", "beta2", "epsilon"):
                raise InvalidError(f"a trainer has no option '{name}'")
            setattr(given, name, text(value) if name == "init" else value)
        handle = Handle()
        if isinstance(artifact, Artifact):
            artifact = artifact.data
        if isinstance(artifact, (bytes, bytearray, memoryview)):
            content = bytes(artifact)
            _library.call("veelineTrainingOpenInMemory", content, len(content), byref(given), byref(handle))
        else:
            _library.call("veelineTrainingOpen", text(artifact), byref(given), byref(handle))
        self._handle = handle
        self.microbatches = self._call("veelineTrainingNumMicrobatches")
        self.batches, self.buffers, self.results = (self._tensors(kind) for kind in (_BATCH, _BUFFER, _RESULT))
        self.parameters = Parameters(self)

    def _call(self, name, *arguments):
        # One thread at a time, also where another one closes the trainer.
        with self._lock:
            handle = self.__dict__.get("_handle")
            if handle is None:
                raise InvalidError("the trainer is closed")
            return _library.call(name, handle, *arguments)

    def _tensors(self, kind):
        found = {}
        for index in range(self._call("veelineTrainingNumTensors", kind)):
            info = _TensorInfo()
            self._call("veelineTrainingGetTensorInfo", kind, index, byref(info))
            tensor = Tensor(index, info)
            found[tensor.name] = tensor
        return found

    def _shapes(self, name):
        """What an argument is given as, and what it is called in messages."""
        if name in self.buffers:
            return self.buffers[name], [self.buffers[name].shape], f"buffer '{name}'"
        if name not in self.batches:
            raise InvalidError(f"the model has no argument '{name}', it has {', '.join([*self.batches, *self.buffers])}")
        tensor = self.batches[name]
        shapes = [(self.microbatches, *tensor.shape)]
        if tensor.shape:
            shapes.append((self.microbatches * tensor.shape[0], *tensor.shape[1:]))
        return tensor, shapes, f"batch argument '{name}'"

    def feed(self, values):
        """Gives arguments their values: batch arguments those of the next step, the microbatches in the first dimension or one after the
        other; buffers those of all further steps."""
        with self._lock:
            for name, value in values.items():
                tensor, shapes, what = self._shapes(name)
                data = _arrays.to_bytes(value, tensor.type, shapes, what)
                self._call("veelineTrainingFeed", text(name), data, len(data))

    def step(self, batch=None):
        """Runs the next step, on `batch` (see `feed`), and returns its mean loss."""
        loss = c_double()
        with self._lock:
            self.feed(batch or {})
            self._call("veelineTrainingStep", byref(loss))
        return loss.value

    @property
    def steps(self):
        """How many have run."""
        return self._call("veelineTrainingNumSteps")

    @property
    def gradient_norm(self):
        """Of the averaged gradients of all parameters in the last step."""
        return self._call("veelineTrainingGradientNorm")

    def last(self, result):
        """The values of a result (the loss, or a metric) in each microbatch of the last step."""
        if result not in self.results:
            raise InvalidError(f"the model has no result '{result}', it has {', '.join(self.results)}")
        values = (c_double * self.microbatches)()
        self._call("veelineTrainingGetResult", self.results[result].index, values, self.microbatches)
        return list(values)

    def set_learning_rate(self, rate):
        """From the next step on."""
        self._call("veelineTrainingSetLearningRate", rate)

    def save(self, path):
        """Writes all parameters as a .safetensors file."""
        self._call("veelineTrainingSave", text(path))

    def close(self):
        """Ends the ranks, and frees what they have. Nothing else can be asked of the trainer then."""
        with self._lock:
            handle = self.__dict__.pop("_handle", None)
            if handle is not None:
                _library.call("veelineTrainingDestroy", handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self.close()
