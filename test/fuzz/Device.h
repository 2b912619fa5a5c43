//===- Device.h - runs a model as on a GPU ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_DEVICE_H
#define VEELINE_TEST_FUZZ_DEVICE_H

#include "Verdict.h"

namespace veeline::fuzz {

/// Compiles a model for a GPU as `veeline compile` does, in the way that the
/// seed chooses, and trains it over the stand-ins for CUDA's libraries as
/// `veeline train` does: with one and two steps in flight, issued and as
/// graphs, in several orders of streams. All runs must have the bits of the
/// sequential program. Each program that is run ends after `seconds` at the
/// latest. The message of a failure has all commands.
Verdict judgeOnDevice(Compiler &compiler, const Task &task, unsigned seconds);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_DEVICE_H
