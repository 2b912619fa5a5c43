# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: made by name, verified, simulated, drawn, read and written.

    schedule = veeline.schedule.generate("zb-v", stages=4, microbatches=8)
    schedule.simulate().makespan

At the end of a cell of a notebook, a schedule is a picture.
"""

import array
import collections
import ctypes
import numbers
import operator
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64

from veeline._library import Handle, InvalidError, Library, Status, String, required, take_bytes, text

__all__ = ["ACTIVATION", "Chunk", "Offload", "Op", "Problem", "Schedule", "Simulation", "Times", "generate", "names", "read"]


def __dir__():
    return __all__


class _Costs(ctypes.Structure):
    _fields_ = [("forward", c_double), ("backward_input", c_double), ("backward_weight", c_double)]


class _ProblemOptions(ctypes.Structure):
    _fields_ = [("schedule", c_char_p), ("stages", c_int32), ("chunks_per_stage", c_int32), ("microbatches", c_int32), ("cost", _Costs),
                ("transfer", c_double), ("activation", _Costs), ("memory_limit", c_double), ("offload_time", c_double),
                ("recompute", c_double), ("recompute_activation", c_double)]


class Chunk(ctypes.Structure):
    """What the operations of a chunk cost, and by how much they change the memory of its stage."""
    _fields_ = [("forward", c_double), ("backward_input", c_double), ("backward_weight", c_double), ("backward_shared", c_double),
                ("forward_memory", c_int64), ("backward_input_memory", c_int64), ("backward_weight_memory", c_int64),
                ("has_backward_input", c_bool), ("offload_memory", c_int64), ("offload_time", c_double), ("has_recompute", c_bool),
                ("recompute", c_double), ("recompute_memory", c_int64)]

    def __repr__(self):
        return f"Chunk({', '.join(f'{name}={getattr(self, name)!r}' for name, _ in self._fields_)})"


class _Edge(ctypes.Structure):
    _fields_ = [("start", c_int32), ("end", c_int32), ("forward_transfer", c_double), ("backward_transfer", c_double),
                ("carries_gradient", c_bool)]


class _GenerateOptions(ctypes.Structure):
    _fields_ = [("objective", c_int), ("overlap_blocks", c_bool), ("search_seconds", c_double), ("seed", c_uint64),
                ("offload", c_bool)]


class _Op(ctypes.Structure):
    _fields_ = [("kind", c_int), ("chunk", c_int32), ("microbatch", c_int32), ("late", c_bool)]


class _Offload(ctypes.Structure):
    _fields_ = [("chunk", c_int32), ("microbatch", c_int32), ("leaves", c_int32), ("returns", c_int32)]


class _SimulateOptions(ctypes.Structure):
    _fields_ = [("rendezvous", c_bool), ("contention", c_bool)]


class _Prediction(ctypes.Structure):
    _fields_ = [("makespan", c_double), ("span", c_double), ("period", c_double), ("bubble_makespan", c_double), ("bubble_span", c_double),
                ("bubble_steady", c_double), ("peak_memory", c_int64)]


_doubles, _integers = POINTER(c_double), POINTER(c_int64)
_library = Library("veeline-c-schedule", [
    ("veelineNumSchedules", c_size_t, []),
    ("veelineScheduleNameAt", c_char_p, [c_size_t]),
    ("veelineProblemCreate", Status, [POINTER(_ProblemOptions), POINTER(Handle)]),
    ("veelineProblemDestroy", None, [Handle]),
    ("veelineProblemNumStages", c_int32, [Handle]),
    ("veelineProblemNumMicrobatches", c_int32, [Handle]),
    ("veelineProblemNumChunks", c_int32, [Handle]),
    ("veelineProblemStageOfChunk", c_int32, [Handle, c_int32]),
    ("veelineProblemGetChunk", Status, [Handle, c_int32, POINTER(Chunk)]),
    ("veelineProblemSetChunk", Status, [Handle, c_int32, POINTER(Chunk)]),
    ("veelineProblemSetEdges", Status, [Handle, POINTER(_Edge), c_size_t]),
    ("veelineProblemSetMemoryLimits", Status, [Handle, _integers, c_size_t]),
    ("veelineProblemSetMemoryUnit", Status, [Handle, c_int64, c_char_p]),
    ("veelineScheduleGenerate", Status, [Handle, c_char_p, POINTER(_GenerateOptions), POINTER(Handle)]),
    ("veelineScheduleRead", Status, [c_char_p, c_char_p, c_size_t, c_char_p, Handle, POINTER(Handle)]),
    ("veelineScheduleDestroy", None, [Handle]),
    ("veelineScheduleName", c_char_p, [Handle]),
    ("veelineScheduleCopyProblem", Status, [Handle, POINTER(Handle)]),
    ("veelineScheduleWarning", c_char_p, [Handle, c_size_t]),
    ("veelineScheduleNumRanks", c_int32, [Handle]),
    ("veelineScheduleNumOps", c_size_t, [Handle, c_int32]),
    ("veelineScheduleGetOps", Status, [Handle, c_int32, POINTER(_Op), c_size_t]),
    ("veelineScheduleNumOffloads", c_size_t, [Handle, c_int32]),
    ("veelineScheduleGetOffloads", Status, [Handle, c_int32, POINTER(_Offload), c_size_t]),
    ("veelineScheduleVerify", Status, [Handle]),
    ("veelineScheduleToText", Status, [Handle, c_char_p, POINTER(String)]),
    ("veelineScheduleSimulate", Status, [Handle, POINTER(_SimulateOptions), POINTER(Handle)]),
    ("veelineSimulationDestroy", None, [Handle]),
    ("veelineSimulationGet", _Prediction, [Handle]),
    ("veelineSimulationGetTimes", Status, [Handle, c_int32, _doubles, _doubles, _integers, c_size_t]),
])

# One activation, what a microbatch holds of a stage, in the memory unit of a problem without bytes.
ACTIVATION = 720720 * 1000
_OBJECTIVES = {None: 0, "makespan": 1, "span": 2, "period": 3}
_KINDS = ("F", "B", "W", "BW", "R")

Op = collections.namedtuple("Op", "kind chunk microbatch late")
Op.__doc__ = """An operation: kind "F", "B", "W", "BW" (both as one) or "R" (recomputed ahead of the backward), of the step before where it is `late`."""
Offload = collections.namedtuple("Offload", "chunk microbatch leaves returns")
Offload.__doc__ = """What a chunk holds of a microbatch, and lets wait in the host's memory: it has left before operation `leaves` of the rank, and
begins to come back before operation `returns`."""
Times = collections.namedtuple("Times", "starts ends memory")
Times.__doc__ = """Of the operations of a rank, in their order: arrays of the standard library, which NumPy takes without a copy."""


def names():
    """The names of all schedules."""
    return [_library.call("veelineScheduleNameAt", i).decode() for i in range(_library.call("veelineNumSchedules"))]


def _integer(name, value, bits=32, signed=True):
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidError(f"{name} is an integer; found {value!r}") from None
    # ctypes would cut off what does not fit.
    low = -2**(bits - 1) if signed else 0
    if not low <= number < low + 2**bits:
        raise InvalidError(f"{name} is {value}, which is out of range")
    return number


def _number(name, value):
    if not isinstance(value, numbers.Real):
        raise InvalidError(f"{name} is a number; found {value!r}")
    return value


def _costs(name, values):
    # ctypes would take 0 for those that are missing.
    try:
        values = tuple(values)
    except TypeError:
        values = (values,)
    if len(values) != 3 or not all(isinstance(value, numbers.Real) for value in values):
        raise InvalidError(f"{name} is three numbers, of F, B and W; found {', '.join(map(repr, values)) or 'none'}")
    return _Costs(*values)


def _edge(start, end, *more):
    if not 2 <= len(more) <= 3:
        raise InvalidError("an edge is (from, to, forward transfer, backward transfer[, carries a gradient]); "
                           f"found {2 + len(more)} values")
    return _Edge(_integer("an edge's chunk", start), _integer("an edge's chunk", end),
                 *(_number("an edge's transfer", transfer) for transfer in more[:2]), more[2] if len(more) == 3 else True)


class _Owner:
    """Owns a handle of the library."""
    _destroy = None

    def __init__(self, handle):
        self._handle = handle

    def __del__(self, call=_library.call):
        handle = self.__dict__.pop("_handle", None)
        if handle is not None:
            call(self._destroy, handle)


class Problem(_Owner):
    """What is to be scheduled.

    `schedule` decides which chunk is on which stage. `cost` is the time of F, B and W of a whole stage for one microbatch, `activation`
    what they add to its memory, in activations, as `memory_limit` is. `offload_time` is that of a copy of one activation to the host's
    memory, or back. `recompute` is the time of R, which recomputes ahead of the backward what it needs, and `recompute_activation` what
    that adds to memory.
    """
    _destroy = "veelineProblemDestroy"

    def __init__(self, schedule, stages, microbatches, *, chunks_per_stage=0, cost=(1, 1, 1), transfer=0, activation=(1, 0, -1),
                 memory_limit=None, offload_time=None, recompute=None, recompute_activation=0):
        def or_none(name, value):
            return -1 if value is None else _number(name, value)

        options = _ProblemOptions(required("the name of a schedule", schedule), _integer("stages", stages),
                                  _integer("chunks_per_stage", chunks_per_stage), _integer("microbatches", microbatches),
                                  _costs("cost", cost), _number("transfer", transfer), _costs("activation", activation),
                                  or_none("memory_limit", memory_limit), or_none("offload_time", offload_time),
                                  or_none("recompute", recompute), _number("recompute_activation", recompute_activation))
        handle = Handle()
        _library.call("veelineProblemCreate", byref(options), byref(handle))
        super().__init__(handle)

    @property
    def stages(self):
        return _library.call("veelineProblemNumStages", self._handle)

    @property
    def microbatches(self):
        return _library.call("veelineProblemNumMicrobatches", self._handle)

    @property
    def stage_of_chunk(self):
        return [_library.call("veelineProblemStageOfChunk", self._handle, i)
                for i in range(_library.call("veelineProblemNumChunks", self._handle))]

    def chunk(self, index):
        """A copy of what chunk `index` costs."""
        chunk = Chunk()
        _library.call("veelineProblemGetChunk", self._handle, _integer("a chunk", index), byref(chunk))
        return chunk

    def set_chunk(self, index, chunk=None, **values):
        """Sets what chunk `index` costs: all of `chunk`, or those `values` alone, by the names of Chunk's fields."""
        chunk = self.chunk(index) if chunk is None else chunk
        fields = dict(Chunk._fields_)
        for field, value in values.items():
            if field not in fields:
                raise InvalidError(f"a chunk has no '{field}'; it has {', '.join(fields)}")
            setattr(chunk, field, _integer(field, value, bits=64) if fields[field] is c_int64 else
                    _number(field, value) if fields[field] is c_double else value)
        _library.call("veelineProblemSetChunk", self._handle, _integer("a chunk", index), byref(chunk))

    def set_edges(self, edges):
        """Sets what passes between chunks: (from, to, forward transfer, backward transfer[, carries a gradient]) each."""
        edges = [_edge(*edge) for edge in edges]
        _library.call("veelineProblemSetEdges", self._handle, (_Edge * len(edges))(*edges), len(edges))

    def set_memory_limits(self, limits, unit=None):
        """Sets a limit for each stage; none of them: no limits. `unit` is (size, name), in which messages print memory."""
        limits = [_integer("a memory limit", limit, bits=64) for limit in limits]
        _library.call("veelineProblemSetMemoryLimits", self._handle, (c_int64 * len(limits))(*limits), len(limits))
        if unit is not None:
            _library.call("veelineProblemSetMemoryUnit", self._handle, _integer("a unit", unit[0], bits=64), required("the name of a unit", unit[1]))

    def __repr__(self):
        return f"<veeline.Problem of {self.stages} stages, {len(self.stage_of_chunk)} chunks, {self.microbatches} microbatches>"


class Simulation(_Owner):
    """Predicted times and memory, in the units of the problem.

    Attributes: makespan, span, period, bubble_makespan, bubble_span, bubble_steady, peak_memory (include/veeline-c/Schedule.h).
    """
    _destroy = "veelineSimulationDestroy"

    def __init__(self, handle, counts):
        super().__init__(handle)
        self._counts = counts
        prediction = _library.call("veelineSimulationGet", handle)
        for name, _ in _Prediction._fields_:
            setattr(self, name, getattr(prediction, name))

    def __repr__(self):
        return f"<veeline.Simulation with makespan {self.makespan}>"

    def times(self, rank):
        """When the operations of a rank begin and end, and its memory after each of them."""
        rank = _integer("a rank", rank)
        count = self._counts[rank] if 0 <= rank < len(self._counts) else 0
        starts, ends, memory = array.array("d", bytes(8 * count)), array.array("d", bytes(8 * count)), array.array("q", bytes(8 * count))
        _library.call("veelineSimulationGetTimes", self._handle, rank, (c_double * count).from_buffer(starts),
                      (c_double * count).from_buffer(ends), (c_int64 * count).from_buffer(memory), count)
        return Times(starts, ends, memory)


class Schedule(_Owner):
    """What each stage runs, in order, with the problem that it is for."""
    _destroy = "veelineScheduleDestroy"

    def __repr__(self):
        return f"<veeline.Schedule {self.name} of {len(self.ranks)} ranks>"

    @property
    def name(self):
        return _library.call("veelineScheduleName", self._handle).decode()

    @property
    def problem(self):
        """A copy of it."""
        problem = Problem.__new__(Problem)
        handle = Handle()
        _library.call("veelineScheduleCopyProblem", self._handle, byref(handle))
        _Owner.__init__(problem, handle)
        return problem

    @property
    def warnings(self):
        """What its user should know, one sentence each."""
        found = []
        while (warning := _library.call("veelineScheduleWarning", self._handle, len(found))) is not None:
            found.append(warning.decode())
        return found

    def _counts(self):
        return [_library.call("veelineScheduleNumOps", self._handle, rank)
                for rank in range(_library.call("veelineScheduleNumRanks", self._handle))]

    @property
    def ranks(self):
        """A list of operations for each stage, or for each of its ranks where it has several."""
        rows = []
        for rank, count in enumerate(self._counts()):
            ops = (_Op * count)()
            _library.call("veelineScheduleGetOps", self._handle, rank, ops, count)
            rows.append([Op(_KINDS[op.kind], op.chunk, op.microbatch, op.late) for op in ops])
        return rows

    @property
    def offloads(self):
        """What each stage, or each of its ranks, lets wait in the host's memory, in the order of F."""
        rows = []
        for rank in range(_library.call("veelineScheduleNumRanks", self._handle)):
            row = (_Offload * _library.call("veelineScheduleNumOffloads", self._handle, rank))()
            _library.call("veelineScheduleGetOffloads", self._handle, rank, row, len(row))
            rows.append([Offload(it.chunk, it.microbatch, it.leaves, it.returns) for it in row])
        return rows

    def verify(self):
        """Raises WrongScheduleError (or OverMemoryLimitError) where it does not solve its problem."""
        _library.call("veelineScheduleVerify", self._handle)

    def simulate(self, *, rendezvous=False, contention=False):
        """Predicts times and memory. `rendezvous`: sends and receives block; `contention`: of the messages from one stage to another,
        one passes at a time."""
        handle = Handle()
        _library.call("veelineScheduleSimulate", self._handle, byref(_SimulateOptions(rendezvous, contention)), byref(handle))
        return Simulation(handle, self._counts())

    def to(self, format):
        """The text of a file: "svg", "html", "csv" (PyTorch's), "comms.csv" (the same with communication cells), "json" (with the
        problem), "trace" (Chrome's) or "text"."""
        string = String()
        _library.call("veelineScheduleToText", self._handle, required("the name of a format", format), byref(string))
        return take_bytes(string).decode()

    def _repr_svg_(self):
        return self.to("svg")

    def __str__(self):
        return self.to("text")


def generate(name, stages=None, microbatches=None, *, problem=None, objective=None, overlap_blocks=False, search_seconds=1.0, seed=0,
             offload=None, **options):
    """The schedule `name`, verified: of `problem`, or of one with these stages, microbatches and further options of Problem. `offload`
    lets memory that chunks can offload wait in the host's memory, which is the default with an `offload_time`."""
    if problem is None:
        if stages is None or microbatches is None:
            raise InvalidError("give stages and microbatches, or a problem")
        problem = Problem(name, stages, microbatches, **options)
    elif stages is not None or microbatches is not None or options:
        raise InvalidError("a problem has its own stages, microbatches and costs; give either a problem or these")
    if objective not in _OBJECTIVES:
        raise InvalidError(f"objective is makespan, span or period, not '{objective}'")
    if offload is None:
        offload = options.get("offload_time") is not None
    given = _GenerateOptions(_OBJECTIVES[objective], overlap_blocks, _number("search_seconds", search_seconds),
                             _integer("seed", seed, bits=64, signed=False), offload)
    handle = Handle()
    _library.call("veelineScheduleGenerate", problem._handle, required("the name of a schedule", name), byref(given), byref(handle))
    return Schedule(handle)


def read(source, format, *, problem=None, file="a schedule"):
    """Reads the text of a schedule, in "csv" or "json"; it is not verified. `problem`: with what costs, if not those of the text, or 1.
    `file` names the text in messages."""
    data = source.encode() if isinstance(source, str) else bytes(source)
    handle = Handle()
    _library.call("veelineScheduleRead", required("the name of a format", format), data, len(data), text(file),
                  problem._handle if problem else Handle(), byref(handle))
    return Schedule(handle)
