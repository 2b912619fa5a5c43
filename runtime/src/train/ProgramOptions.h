//===- ProgramOptions.h - options of a training program ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_PROGRAMOPTIONS_H
#define VEELINE_RUNTIME_TRAIN_PROGRAMOPTIONS_H

#include "Options.h"
#include "veeline/training.h"

namespace veeline::train {

/// What `veeline train` would be asked for by these options; without "steps"
/// there is no last one. An error says which one is wrong, or does not fit
/// another.
Expected<Options> parseProgramOptions(const std::vector<TrainingOption> &given);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_PROGRAMOPTIONS_H
