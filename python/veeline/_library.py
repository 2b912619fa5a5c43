# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the libraries of the C API have in common: how they are loaded, and how errors and texts come out of them."""

import ctypes
import keyword
import os

from veeline._config import LIBRARIES, SUFFIX, VERSION  # noqa: F401


class VeelineError(Exception):
    """What the library says: where, what was expected, what was found, what to do."""


class VeelineWarning(UserWarning):
    """What the library remarks on, and goes on."""


class InvalidError(VeelineError, ValueError):
    """An argument has no meaning, or arguments contradict each other."""


class UnknownScheduleError(VeelineError, ValueError):
    """There is no schedule of this name."""


class NotApplicableError(VeelineError, ValueError):
    """The schedule is not defined for this problem."""


class OverMemoryLimitError(VeelineError, ValueError):
    """No order of this schedule stays within the memory limit of a stage."""


class WrongScheduleError(VeelineError, ValueError):
    """A schedule does not solve its problem."""


class FailedError(VeelineError, RuntimeError):
    """A file, an artifact, a model or this machine is not as it has to be."""


ERRORS = {1: InvalidError, 2: UnknownScheduleError, 3: NotApplicableError, 4: OverMemoryLimitError, 5: WrongScheduleError, 6: FailedError}
NO_MEMORY = 7


class Handle(ctypes.Structure):
    """A pointer that the library gives meaning to."""
    _fields_ = [("ptr", ctypes.c_void_p)]


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_void_p)]


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


# What the library gives away is from malloc.
_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None


def check(status):
    """Raises the error that a status says."""
    if status.code == 0:
        return
    message = ctypes.string_at(status.message).decode(errors="replace") if status.message else ""
    _free(status.message)
    if status.code == NO_MEMORY:
        raise MemoryError("Veeline has no memory left")
    raise ERRORS.get(status.code, VeelineError)(message)


def take_bytes(string):
    """The bytes of a String, which is freed."""
    data = ctypes.string_at(string.data, string.length)
    _free(string.data)
    return data


class Library:
    """One of the libraries, loaded when a function of it is first called.

    `functions` is a list of (name, result, arguments); a function whose result is a Status raises an error where that says one.
    """

    def __init__(self, name, functions, component="runtime"):
        self._name = name
        self._component = component
        self._functions = functions
        self._loaded = None

    def _load(self):
        path = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), LIBRARIES, f"lib{self._name}{SUFFIX}"))
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            raise FailedError(f"cannot load '{path}': {error}; install Veeline's component '{self._component}' beside 'python'") from None
        for name, result, arguments in self._functions:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        return library

    def call(self, name, *arguments):
        if self._loaded is None:
            self._loaded = self._load()
        result = getattr(self._loaded, name)(*arguments)
        if isinstance(result, Status):
            check(result)
            return None
        return result


class Option(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


def options(given):
    """Options of a command as C has them, and how many: names with _ for -, and a _ after a keyword of Python (`continue_`); True gives a
    flag, None and False leave an option out, a list is joined by commas, a dict stands for the option once for each NAME=VALUE."""
    found = []
    for name, value in given.items():
        values = [f"{key}={_words(one)}" for key, one in value.items()] if isinstance(value, dict) else [value]
        for one in values:
            if one is not None and one is not False:
                found.append(Option(text(_option_name(name)), None if one is True else text(_words(one))))
    return (Option * len(found))(*found), len(found)


def _option_name(name):
    """`name`, as Python writes it, as a command has it."""
    if name.endswith("_") and keyword.iskeyword(name[:-1]):
        name = name[:-1]
    return name.replace("_", "-")


def _words(value):
    return ",".join(map(_words, value)) if isinstance(value, (list, tuple)) else os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def option_names(at):
    """The names that `at`, a function of the library, gives one after the other, as Python writes them."""
    names = []
    while (name := at(len(names))) is not None:
        written = name.decode().replace("-", "_")
        names.append(f"{written}_" if keyword.iskeyword(written) else written)
    return names


def text(value):
    """For a `const char *`."""
    if value is None:
        return None
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError(f"{value!r} has a character of code 0")
    return encoded


def required(what, value):
    """The same for a text or a path that may not be left out; messages call it `what`."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise InvalidError(f"{what} is expected; found {value!r}")
    return text(value)
