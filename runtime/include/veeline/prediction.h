//===- prediction.h - how long a step will take ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_PREDICTION_H
#define VEELINE_PREDICTION_H

#include "veeline/artifact.h"

#include <cstdint>
#include <optional>

namespace veeline {

/// The predicted end of all work, and of the waits for all-reduces, in
/// microseconds, where every F, B and W has a prediction. That is of ranks that
/// have a core each while they work; where `cores` have to do for all, those of
/// all replicas, it stretches whenever more ranks work than there are cores.
std::optional<double> predictStep(const artifact::Program &program,
                                  int64_t cores = INT64_MAX);

} // namespace veeline

#endif // VEELINE_PREDICTION_H
