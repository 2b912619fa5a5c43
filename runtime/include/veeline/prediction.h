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

/// Whether a rank computes in `op`, and for how long was predicted.
bool isPredictedWork(const artifact::Op &op);

/// Sets when ops begin and end by how long they take, with all that `program`
/// says about their order and messages: in a step alone, or, where some are
/// late, in one among others. So far updates and norms, which no schedule
/// knows, may have any begin. Takes back all predictions of these if an F, B or
/// W has none.
void settleTimes(artifact::Program &program);

/// The predicted time of a step in microseconds: the end of all work and of the
/// waits for all-reduces. None if an F, B or W has no prediction. `program` has
/// the ranks of one replica, as in a file, or those of all replicas; all of
/// these share `cores`. Predictions assume a core for each rank; while more
/// ranks work than there are cores, the time stretches in proportion.
std::optional<double> predictStep(const artifact::Program &program,
                                  int64_t cores = INT64_MAX);

/// The predicted time from one step to the next, in microseconds, where a rank
/// begins a step as soon as it has ended the one before and waits only for
/// messages and all-reduces. None where `predictStep` is none. At least the
/// time in which `cores` can do the work of all ranks. Near-linear
/// in the number of operations.
std::optional<double> predictPeriod(const artifact::Program &program,
                                    int64_t cores = INT64_MAX);

} // namespace veeline

#endif // VEELINE_PREDICTION_H
