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

/// Returns the options of `veeline train` for these. Without "steps", there is
/// no last step. An error says which option is wrong, or does not fit another
/// one.
Expected<Options> parseProgramOptions(const std::vector<TrainingOption> &given);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_PROGRAMOPTIONS_H
