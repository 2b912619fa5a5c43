# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models to artifacts, in memory.

    artifact = veeline.compile("net.mlir", stages=2, microbatches=4, schedule="zb-h1")
    with veeline.Trainer(artifact) as trainer:
        ...

Needs the component `tools` of Veeline, and MLIR.
"""

import collections
import contextlib
import ctypes
import io
import os
import secrets
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p

from veeline._library import FailedError, Handle, InvalidError, Library, Option, Status, String, option_names, options, required, take_bytes, text

__all__ = ["Artifact", "CompileError", "Diagnostic", "Module", "compile", "compile_options"]


def __dir__():
    return __all__


class _Diagnostic(ctypes.Structure):
    pass


_Diagnostic._fields_ = [("severity", c_int), ("file", c_char_p), ("line", c_int64), ("column", c_int64), ("message", c_char_p),
                        ("notes", POINTER(_Diagnostic)), ("num_notes", c_size_t)]
_Handler = ctypes.CFUNCTYPE(None, POINTER(_Diagnostic), c_void_p)


_library = Library("veeline-c-compile", [
    ("veelineModuleParse", Status, [c_char_p, c_size_t, c_char_p, _Handler, c_void_p, POINTER(Handle)]),
    ("veelineModuleRead", Status, [c_char_p, _Handler, c_void_p, POINTER(Handle)]),
    ("veelineModuleDestroy", None, [Handle]),
    ("veelineModuleSetByPasses", Status, [Handle, c_char_p, _Handler, c_void_p]),
    ("veelineModuleToText", Status, [Handle, POINTER(String)]),
    ("veelineModuleToBytecode", Status, [Handle, POINTER(String)]),
    ("veelineCompileOptionAt", c_char_p, [c_size_t]),
    ("veelineModuleCompile", Status, [Handle, POINTER(Option), c_size_t, _Handler, c_void_p, POINTER(Handle)]),
    ("veelineArtifactDestroy", None, [Handle]),
    ("veelineArtifactData", c_void_p, [Handle]),
    ("veelineArtifactSize", c_size_t, [Handle]),
], component="tools")
_SEVERITIES = ("error", "warning", "remark", "note")

Diagnostic = collections.namedtuple("Diagnostic", "severity file line column message notes")
Diagnostic.__doc__ = """What was said of a place in a model: severity is "error", "warning", "remark" or "note"; file is "", line and column
are 0 where it is about none. Its text is "file:line:column: severity: message", and its notes below."""


def _describe(diagnostic):
    place = f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: " if diagnostic.file else ""
    return "\n".join([f"{place}{diagnostic.severity}: {diagnostic.message}", *map(_describe, diagnostic.notes)])


Diagnostic.__str__ = _describe


class CompileError(FailedError):
    """A model that cannot be compiled. `diagnostics` is all that was said, the text the first error with its place and notes."""

    def __init__(self, message, diagnostics):
        super().__init__(message)
        self.diagnostics = diagnostics


def _take(diagnostic):
    decode = lambda name: getattr(diagnostic, name).decode(errors="replace")
    notes = [_take(diagnostic.notes[i]) for i in range(diagnostic.num_notes)]
    return Diagnostic(_SEVERITIES[diagnostic.severity], decode("file"), diagnostic.line, diagnostic.column, decode("message"), notes)


class _Listener:
    """Collects diagnostics while a function of the library runs."""

    def __init__(self):
        self.diagnostics = []
        self.handler = _Handler(lambda diagnostic, _: self.diagnostics.append(_take(diagnostic.contents)))

    def call(self, name, *arguments, result=()):
        try:
            _library.call(name, *arguments, self.handler, None, *result)
        except FailedError as error:
            if not self.diagnostics:
                raise
            raise CompileError(str(error), self.diagnostics) from None


class Artifact:
    """A compiled model in memory, for Trainer. `data` are its bytes, `diagnostics` what was said while it was made."""

    def __init__(self, data, diagnostics):
        self.data = data
        self.diagnostics = diagnostics

    def save(self, path):
        """Writes the file that `veeline compile` would have written."""
        # The file is complete or as it was, whoever else writes it at the same time.
        temporary = f"{os.fsdecode(required('the path of a file', path))}.{secrets.token_hex(8)}.tmp"
        try:
            with open(temporary, "xb") as file:
                try:
                    file.write(self.data)
                    file.flush()
                    os.fsync(file.fileno())
                    os.replace(temporary, path)
                except BaseException:  # Ctrl-C, too.
                    with contextlib.suppress(OSError):
                        os.unlink(temporary)
                    raise
        except OSError as error:
            # The name of the temporary file says nothing to the caller.
            raise OSError(error.errno, error.strerror, path) from None

    def __len__(self):
        return len(self.data)

    def __repr__(self):
        return f"<veeline.Artifact of {len(self.data)} bytes>"


class Module:
    """An MLIR module: the path of a file; a text (a str with more than one line) or bytecode (bytes); or a module of MLIR's own Python
    bindings, which is copied. One thread may use it at a time."""

    def __init__(self, source, *, name=None):
        listener, handle = _Listener(), Handle()
        if hasattr(source, "operation"):
            file = io.BytesIO()
            source.operation.write_bytecode(file)
            source = file.getvalue()
        if isinstance(source, os.PathLike) or isinstance(source, str) and "\n" not in source:
            listener.call("veelineModuleRead", text(source), result=[byref(handle)])
        elif isinstance(source, (str, bytes, bytearray, memoryview)):
            data = source.encode() if isinstance(source, str) else bytes(source)
            listener.call("veelineModuleParse", data, len(data), text(name), result=[byref(handle)])
        else:
            raise InvalidError(f"a module is a path, a text, bytecode or a module of MLIR's Python bindings; found {type(source).__name__}")
        self._handle = handle
        self.diagnostics = listener.diagnostics

    def run(self, passes):
        """Runs passes on it, as "pipe-partition{stages=2},canonicalize"; returns itself."""
        listener = _Listener()
        listener.call("veelineModuleSetByPasses", self._handle, text(passes))
        self.diagnostics += listener.diagnostics
        return self

    def compile(self, **given):
        """The artifact that `veeline compile` makes with these options: stages=2, evaluation=True, memory_limit=["2GiB", "1GiB"]."""
        listener, handle = _Listener(), Handle()
        listener.call("veelineModuleCompile", self._handle, *options(given), result=[byref(handle)])
        try:
            size = _library.call("veelineArtifactSize", handle)
            data = ctypes.string_at(_library.call("veelineArtifactData", handle), size)
        finally:
            _library.call("veelineArtifactDestroy", handle)
        return Artifact(data, self.diagnostics + listener.diagnostics)

    def __str__(self):
        printed = String()
        _library.call("veelineModuleToText", self._handle, byref(printed))
        return take_bytes(printed).decode()

    def to_bytecode(self):
        bytecode = String()
        _library.call("veelineModuleToBytecode", self._handle, byref(bytecode))
        return take_bytes(bytecode)

    def __del__(self):
        handle = self.__dict__.pop("_handle", None)
        if handle is not None:
            _library.call("veelineModuleDestroy", handle)


def compile(model, *, name=None, **given):  # noqa: A001, as re.compile.
    """The artifact of a model, which is what Module takes; options are those of `veeline compile`. Raises CompileError."""
    return Module(model, name=name).compile(**given)


def compile_options():
    """The names of the options of `compile`."""
    return option_names(lambda index: _library.call("veelineCompileOptionAt", index))
