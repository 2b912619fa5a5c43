//===- LoopPattern.h - a loop on a V without a bubble -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_LOOPPATTERN_H
#define VEELINE_LIB_SCHEDULE_AUTO_LOOPPATTERN_H

#include "FlatProblem.h"

namespace veeline::schedule {

/// Returns a cyclic order on a V of two chunks a stage, in bursts of p
/// microbatches (LoopPattern.cpp). If all F, B and W take the same time,
/// transfers take none, and p divides m, its period is the busy time, within p
/// activations. None for other placements, or if memory does not suffice.
/// O(operations · log operations).
std::optional<FlatOrders> loopPattern(const Problem &problem,
                                      const FlatProblem &flat);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_LOOPPATTERN_H
