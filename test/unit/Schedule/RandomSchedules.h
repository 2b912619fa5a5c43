//===- RandomSchedules.h - any problem, any order ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_RANDOMSCHEDULES_H
#define VEELINE_TEST_UNIT_SCHEDULE_RANDOMSCHEDULES_H

#include "TestUtilities.h"

namespace veeline::schedule {

/// A small problem with any placement, any forward edges, costs per chunk,
/// some chunks without BackwardInput and an overlap, without limits.
Problem randomSmallProblem(Random &random);

/// All operations of a problem, some backwards fused, in an order that respects
/// the dependencies; B and W of a chunk ascend if `ascending`.
Schedule randomOrder(Random &random, const Problem &problem, bool ascending);

/// Makes some neighbours overlapped blocks. They may deadlock.
void addBlocks(Random &random, Schedule &schedule);

/// Offloads what some F keep, for as long as it may be away or less.
void addRandomOffloads(Random &random, const Problem &problem,
                       Schedule &schedule);

/// Swaps some neighbours.
void disturb(Random &random, Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_TEST_UNIT_SCHEDULE_RANDOMSCHEDULES_H
