//===- RandomSchedules.h - random problems and orders -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_RANDOMSCHEDULES_H
#define VEELINE_TEST_UNIT_SCHEDULE_RANDOMSCHEDULES_H

#include "TestUtilities.h"

namespace veeline::schedule {

/// A small problem without limits, with any placement, any forward edges, costs
/// for each chunk, some chunks without BackwardInput, and an overlap.
Problem randomSmallProblem(Random &random);

/// All operations of a problem, some backwards fused, in an order that respects
/// the dependencies. If `ascending`, B and W of a chunk ascend.
Schedule randomOrder(Random &random, const Problem &problem, bool ascending);

/// Turns some adjacent operations into overlapped blocks. These may deadlock.
void addBlocks(Random &random, Schedule &schedule);

/// Offloads what some F keep, for as long as possible or shorter.
void addRandomOffloads(Random &random, const Problem &problem,
                       Schedule &schedule);

/// Swaps some adjacent operations.
void disturb(Random &random, Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_TEST_UNIT_SCHEDULE_RANDOMSCHEDULES_H
