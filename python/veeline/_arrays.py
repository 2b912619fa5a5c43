# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays as others have them: the buffer protocol, __array_interface__, __dlpack__, or lists of numbers."""

import array
import ctypes
import itertools
import math

from veeline._library import InvalidError

# Of Veeline's types: the format of the struct module, and the bytes.
FORMATS = {"f32": ("f", 4), "f64": ("d", 8), "i1": ("?", 1), "i8": ("b", 1), "i16": ("h", 2), "i32": ("i", 4), "i64": ("q", 8)}
_OF_STRUCT = {"f": "f32", "d": "f64", "?": "i1", "b": "i8", "h": "i16", "i": "i32", "l": "i64", "q": "i64"}
_OF_TYPESTR = {"f4": "f32", "f8": "f64", "b1": "i1", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64"}
# By the type code of DLPack and bits.
_OF_DLPACK = {(2, 32): "f32", (2, 64): "f64", (6, 8): "i1", (0, 8): "i8", (0, 16): "i16", (0, 32): "i32", (0, 64): "i64"}
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}  # By bytes.
_ON_HOST = (1, 3)  # A device of DLPack: memory of the CPU, or pinned.


class _DLTensor(ctypes.Structure):
    """The first member of a DLManagedTensor (dlpack.h)."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def describe(type, shape):
    return f"{type}[{'x'.join(map(str, shape))}]"


def _read(address, shape, strides, size):
    """The bytes of an array in row-major order. `strides` are in bytes; None: it has no gaps."""
    dense = [size * math.prod(shape[i + 1:]) for i in range(len(shape))]
    if strides is None or math.prod(shape) == 0 or all(n == 1 or a == b for n, a, b in zip(shape, strides, dense)):
        return ctypes.string_at(address, size * math.prod(shape))
    if any(stride % size for stride in strides):
        offsets = (sum(i * stride for i, stride in zip(indices, strides)) for indices in itertools.product(*map(range, shape)))
        return b"".join(ctypes.string_at(address + offset, size) for offset in offsets)
    # Rows are slices of all that the array reaches, since these are copied by Python's own code.
    reach = [(n - 1) * stride for n, stride in zip(shape, strides)]
    low = sum(end for end in reach if end < 0)
    region = (ctypes.c_char * (sum(end for end in reach if end > 0) + size - low)).from_address(address + low)
    items = memoryview(region).cast("B").cast(_UNSIGNED[size])
    steps, length = [stride // size for stride in strides], shape[-1]
    starts = (-low // size + sum(i * step for i, step in zip(indices, steps)) for indices in itertools.product(*map(range, shape[:-1])))
    return b"".join(_row(items, start, steps[-1], length) for start in starts)


def _row(items, start, step, length):
    """The bytes of items[start], items[start + step], ..."""
    if step == 0:
        return items[start:start + 1].tobytes() * length
    end = start + step * length
    return items[start:end if end >= 0 else None:step].tobytes()


def _from_interface(interface, what):
    typestr = interface["typestr"]
    type = _OF_TYPESTR.get(typestr[1:])
    if type is None or typestr[0] == ">":
        raise InvalidError(f"{what}: arrays of type '{typestr}' have no counterpart in Veeline")
    shape = tuple(interface["shape"])
    return type, shape, _read(interface["data"][0], shape, interface.get("strides"), FORMATS[type][1])


def _from_dlpack(value, what):
    if value.__dlpack_device__()[0] not in _ON_HOST:
        raise InvalidError(f"{what}: the array is in the memory of a device; copy it to the CPU")
    # The capsule, which is not renamed, frees what it has when it goes.
    capsule = value.__dlpack__()
    tensor = _DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    type = _OF_DLPACK.get((tensor.code, tensor.bits))
    if type is None or tensor.lanes != 1:
        raise InvalidError(f"{what}: arrays of DLPack type {tensor.code} with {tensor.bits} bits have no counterpart in Veeline")
    size = FORMATS[type][1]
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = [size * stride for stride in tensor.strides[:tensor.ndim]] if tensor.strides else None
    return type, shape, _read((tensor.data or 0) + tensor.byte_offset, shape, strides, size)


def _from_buffer(view, what):
    format = view.format.lstrip("@=<")
    type = _OF_STRUCT.get(format)
    if type is None or FORMATS[type][1] != view.itemsize:
        raise InvalidError(f"{what}: arrays of format '{view.format}' have no counterpart in Veeline")
    return type, view.shape, view.tobytes()


def _from_list(value, type, what):
    shape, flat = [], value
    while isinstance(flat, (list, tuple)):
        shape.append(len(flat))
        if not flat:
            break
        flat = flat[0]
    flat = [value]
    for extent in shape:
        if any(not isinstance(row, (list, tuple)) or len(row) != extent for row in flat):
            raise InvalidError(f"{what}: the rows of a list have different lengths")
        flat = [item for row in flat for item in row]
    code = FORMATS[type][0]
    if code == "?" and not all(isinstance(item, (bool, int)) and item in (0, 1) for item in flat):
        raise InvalidError(f"{what}: a list of {type} is expected: True, False, 0 and 1 alone")
    try:
        values = array.array("b" if code == "?" else code, flat)
    except (TypeError, OverflowError) as error:
        raise InvalidError(f"{what}: a list of {type} is expected: {error}") from None
    return type, tuple(shape), values.tobytes()


def to_bytes(value, type, shapes, what):
    """The bytes of `value`, an array of `type` with one of `shapes`, in row-major order. An array of one dimension may have any of these
    shapes, flat."""
    interface = getattr(value, "__array_interface__", {})
    # Without an address there, the buffer protocol has the data.
    if isinstance(interface.get("data"), tuple):
        found, shape, data = _from_interface(interface, what)
    elif hasattr(value, "__dlpack__"):
        found, shape, data = _from_dlpack(value, what)
    elif isinstance(value, (list, tuple, int, float)):
        found, shape, data = _from_list(value, type, what)
    else:
        try:
            view = memoryview(value)
        except TypeError:
            raise InvalidError(f"{what}: an array is expected (with the buffer protocol, __array_interface__ or __dlpack__, or a list of "
                               f"numbers), found {value.__class__.__name__}") from None
        found, shape, data = _from_buffer(view, what)
    taken = list(dict.fromkeys([*shapes, *((math.prod(shape),) for shape in shapes)]))
    if found != type or tuple(shape) not in taken:
        *first, last = (describe(type, shape) for shape in taken)
        expected = f"{', '.join(first)} or {last}" if first else last
        raise InvalidError(f"{what} takes {expected}, found {describe(found, shape)}")
    return data


def from_bytes(data, type, shape):
    """A view of `data`, a bytearray, as an array: of the standard library, and NumPy takes it without a copy."""
    return memoryview(data).cast(FORMATS[type][0], list(shape))
