//===- prediction.h - predicted times of a step -----------------*- C++ -*-===//
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

/// Whether `op` is a computation of a rank with a predicted time.
bool isPredictedWork(const artifact::Op &op);

/// Computes when ops begin and end, from their durations, and from the order
/// and the messages of `program`. The times are those of a single step or, if
/// some ops are late, of one among others. Before the call, updates and norms,
/// which are in no schedule, may begin at any time. Removes the predictions of
/// updates and norms if an F, B or W has none.
void settleTimes(artifact::Program &program);

/// The predicted time of a step in microseconds, to the end of all work and of
/// the waits for all-reduces. None if an F, B or W has no prediction. `program`
/// has the ranks of one replica, as in a file, or those of all replicas, which
/// together share `cores`. Predictions assume a core for each rank. While more
/// ranks work than there are cores, times are multiplied by their ratio.
std::optional<double> predictStep(const artifact::Program &program,
                                  int64_t cores = INT64_MAX);

/// The predicted time from one step to the next, in microseconds, if a rank
/// begins a step as soon as it has ended the previous one and waits only for
/// messages and all-reduces. None if `predictStep` returns none. At least the
/// time in which `cores` can do the work of all ranks. Nearly linear in the
/// number of operations.
std::optional<double> predictPeriod(const artifact::Program &program,
                                    int64_t cores = INT64_MAX);

} // namespace veeline

#endif // VEELINE_PREDICTION_H
