# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Veeline from Python: schedules, models that are compiled, and artifacts that are trained on arrays.

Uses the libraries of the C API and nothing but Python's standard library. NumPy, PyTorch and others give and take arrays where they are.
"""

from veeline import schedule
from veeline._library import (VERSION, FailedError, InvalidError, NotApplicableError, OverMemoryLimitError, UnknownScheduleError,
                              VeelineError, VeelineWarning, WrongScheduleError)
from veeline.compiler import Artifact, CompileError, Diagnostic, Module, compile, compile_options  # noqa: A004, as re.compile.
from veeline.training import Trainer, trainer_options

__version__ = VERSION
__all__ = ["Artifact", "CompileError", "Diagnostic", "FailedError", "InvalidError", "Module", "NotApplicableError",
           "OverMemoryLimitError", "Trainer", "UnknownScheduleError", "VeelineError", "VeelineWarning", "WrongScheduleError",
           "compile", "compile_options", "schedule", "trainer_options"]
