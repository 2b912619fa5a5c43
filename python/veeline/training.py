# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Artifacts that a program trains, which has the loop over the data.

    with veeline.Trainer("net.vee", lr=1e-2) as trainer:
        for x, y in data:
            loss = trainer.step({"x": x, "y": y})
        w0 = numpy.asarray(trainer.parameters["w0"])
"""

import collections.abc
import ctypes
import difflib
import numbers
import threading
import warnings
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p

from veeline import _arrays
from veeline.compiler import Artifact
from veeline._library import Handle, InvalidError, Library, Option, Status, String, VeelineWarning, option_names, options, required, take_bytes, text

__all__ = ["Parameters", "Tensor", "Trainer", "trainer_options"]


def __dir__():
    return __all__


class _StepInfo(ctypes.Structure):
    _fields_ = [("learning_rate", c_double), ("gradient_norm", c_double), ("clip_factor", c_double), ("loss_scale", c_double)]


class _TensorInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("shape", POINTER(c_int64)), ("rank", c_size_t), ("bytes", c_size_t)]


_library = Library("veeline-c-training", [
    ("veelineTrainingOptionAt", c_char_p, [c_size_t]),
    ("veelineTrainingOpen", Status, [c_char_p, POINTER(Option), c_size_t, POINTER(Handle)]),
    ("veelineTrainingOpenInMemory", Status, [c_char_p, c_size_t, POINTER(Option), c_size_t, POINTER(Handle)]),
    ("veelineTrainingDestroy", None, [Handle]),
    ("veelineTrainingNumTensors", c_size_t, [Handle, c_int]),
    ("veelineTrainingGetTensorInfo", Status, [Handle, c_int, c_size_t, POINTER(_TensorInfo)]),
    ("veelineTrainingNumMicrobatches", c_int32, [Handle]),
    ("veelineTrainingFeed", Status, [Handle, c_char_p, c_char_p, c_size_t]),
    ("veelineTrainingStep", Status, [Handle, POINTER(c_double)]),
    ("veelineTrainingSetLearningRate", Status, [Handle, c_double]),
    ("veelineTrainingNumSteps", c_int64, [Handle]),
    ("veelineTrainingLastStep", _StepInfo, [Handle]),
    ("veelineTrainingGetResult", Status, [Handle, c_size_t, POINTER(c_double), c_size_t]),
    ("veelineTrainingFeedEvaluation", Status, [Handle, c_char_p, c_char_p, c_size_t]),
    ("veelineTrainingStepEvaluation", Status, [Handle, POINTER(c_double)]),
    ("veelineTrainingGetEvaluatedResult", Status, [Handle, c_size_t, POINTER(c_double), c_size_t]),
    ("veelineTrainingCheckpoint", Status, [Handle]),
    ("veelineTrainingTakeRemarks", Status, [Handle, POINTER(String)]),
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

    def _find(self, name):
        if name not in self.info:
            names = list(self.info)
            near = difflib.get_close_matches(str(name), names, 1)
            more = f", ... ({len(names)} in all)" if len(names) > 8 else ""
            raise KeyError(f"the model has no parameter '{name}', it has {', '.join(names[:8])}{more}" +
                           (f"; did you mean '{near[0]}'?" if near else ""))
        return self.info[name]

    def __getitem__(self, name):
        tensor = self._find(name)
        data = bytearray(tensor.bytes)
        self._trainer._call("veelineTrainingGetParameter", tensor.index, (ctypes.c_char * len(data)).from_buffer(data), len(data))
        return _arrays.from_bytes(data, tensor.type, tensor.shape)

    def __setitem__(self, name, value):
        tensor = self._find(name)
        data = _arrays.to_bytes(value, tensor.type, [tensor.shape], f"parameter '{name}'")
        self._trainer._call("veelineTrainingSetParameter", tensor.index, data, len(data))


class Trainer:
    """An artifact with its parameters: the path of a file, an Artifact, or its bytes.

    Options are those of `veeline train`, with _ for -, but for those about its loop over steps: lr=1e-2, clip_norm=1, skip_nonfinite=True,
    lr_schedule="linear", steps=1000, checkpoint="run", every=100, continue_=True. `trainer_options` lists them. Those that may be given several times are a
    dict: data={"x": "x.npy"}. Arguments of the model that `data` does not name are given to `step`, or are random with synthetic="fixed" or
    "fresh". What the library remarks on is a VeelineWarning.
    """

    # So that `trainer.lr = 1e-3` is an error.
    __slots__ = ("_lock", "_handle", "microbatches", "batches", "buffers", "results", "parameters", "__weakref__")

    def __init__(self, artifact, **given):
        self._lock, self._handle = threading.RLock(), None
        handle = Handle()
        if isinstance(artifact, Artifact):
            artifact = artifact.data
        if isinstance(artifact, (bytes, bytearray, memoryview)):
            content = bytes(artifact)
            _library.call("veelineTrainingOpenInMemory", content, len(content), *options(given), byref(handle))
        else:
            _library.call("veelineTrainingOpen", required("an artifact or the path of one", artifact), *options(given), byref(handle))
        self._handle = handle
        self.microbatches = self._call("veelineTrainingNumMicrobatches")
        self.batches, self.buffers, self.results = (self._tensors(kind) for kind in (_BATCH, _BUFFER, _RESULT))
        self.parameters = Parameters(self)
        self._warn()

    def __repr__(self):
        if self._handle is None:
            return "<veeline.Trainer, closed>"
        return f"<veeline.Trainer of {len(self.parameters)} parameters, {self.microbatches} microbatches a step>"

    def _warn(self):
        """Says what the library remarks on, as if the caller of the trainer's method did."""
        remarks = String()
        self._call("veelineTrainingTakeRemarks", byref(remarks))
        for remark in take_bytes(remarks).decode(errors="replace").splitlines():
            warnings.warn(remark, VeelineWarning, stacklevel=3)

    def _call(self, name, *arguments):
        # One thread at a time, also where another one closes the trainer.
        with self._lock:
            if self._handle is None:
                raise InvalidError("the trainer is closed")
            return _library.call(name, self._handle, *arguments)

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

    def _feed(self, function, values):
        if not isinstance(values, collections.abc.Mapping):
            raise InvalidError(f"values are given by the names of arguments, as {{'x': ...}}; found {type(values).__name__}")
        with self._lock:
            for name, value in values.items():
                tensor, shapes, what = self._shapes(name)
                data = _arrays.to_bytes(value, tensor.type, shapes, what)
                self._call(function, text(name), data, len(data))

    def feed(self, values):
        """Gives arguments their values: batch arguments those of the next step, the microbatches in the first dimension or one after the
        other; buffers those of all further steps."""
        self._feed("veelineTrainingFeed", values)

    def step(self, batch=None):
        """Runs the next step, on `batch` (see `feed`), and returns its mean loss."""
        loss = c_double()
        with self._lock:
            self.feed(batch or {})
            self._call("veelineTrainingStep", byref(loss))
            self._warn()
        return loss.value

    def evaluate(self, batch):
        """The mean loss of the model on `batch`, whose arguments are given as to `step`, with the parameters as they are. Steps know nothing
        of it. The artifact has to be compiled with evaluation=True."""
        loss = c_double()
        with self._lock:
            self._feed("veelineTrainingFeedEvaluation", batch)
            self._call("veelineTrainingStepEvaluation", byref(loss))
        return loss.value

    @property
    def steps(self):
        """How many have run, those before `resume` among them."""
        return self._call("veelineTrainingNumSteps")

    @property
    def learning_rate(self):
        """Of the last step."""
        return self._call("veelineTrainingLastStep").learning_rate

    @property
    def gradient_norm(self):
        """Of the averaged gradients of all parameters in the last step."""
        return self._call("veelineTrainingLastStep").gradient_norm

    @property
    def clip_factor(self):
        """What the last step multiplied gradients by; 0: it changed nothing."""
        return self._call("veelineTrainingLastStep").clip_factor

    @property
    def loss_scale(self):
        """What the loss of the last step was multiplied by."""
        return self._call("veelineTrainingLastStep").loss_scale

    def _results(self, function, result):
        if result not in self.results:
            raise InvalidError(f"the model has no result '{result}', it has {', '.join(self.results)}")
        values = (c_double * self.microbatches)()
        self._call(function, self.results[result].index, values, self.microbatches)
        return list(values)

    def last(self, result):
        """The values of a result (the loss, or a metric) in each microbatch of the last step."""
        return self._results("veelineTrainingGetResult", result)

    def last_evaluated(self, result):
        """The same of the last evaluation."""
        return self._results("veelineTrainingGetEvaluatedResult", result)

    def set_learning_rate(self, rate):
        """The peak, from the next step on."""
        if not isinstance(rate, numbers.Real):
            raise InvalidError(f"a learning rate is a number; found {type(rate).__name__}")
        self._call("veelineTrainingSetLearningRate", rate)

    def checkpoint(self):
        """Writes a checkpoint of the state after the last step to the folder of the option `checkpoint`, and returns once all are written."""
        self._call("veelineTrainingCheckpoint")
        self._warn()

    def save(self, path):
        """Writes all parameters as a .safetensors file."""
        self._call("veelineTrainingSave", required("the path of a file", path))

    def close(self):
        """Ends the ranks, and frees what they have. Nothing else can be asked of the trainer then."""
        with self._lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                _library.call("veelineTrainingDestroy", handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self.close()


def trainer_options():
    """The names of the options of Trainer."""
    return option_names(lambda index: _library.call("veelineTrainingOptionAt", index))
