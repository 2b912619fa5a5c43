//===- Loop.h - steps that follow each other --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training runs one step after the other. Where no barrier stands between
// steps, a stage begins a step while others still work on the one before, and
// what counts is the *period*, the time from one step to the next, not the
// time of a step from an empty pipeline to an empty one.
//
// An order is then one turn of a loop. It may be *cyclic*: some of its W are
// `late`, that is, of the step before. Such a W fills what the beginning of the
// next step would leave empty. Nothing about the sums changes: a late W stands
// before the first F of its chunk, so the parameters are updated with all
// gradients of a step before the next step uses them.
//
// Where steps do not wait for updates (`Problem::updates`), whole backwards may
// be late. One whose gradients come from a backward of another rank that is in
// time gets them in the turn before.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_LOOP_H
#define VEELINE_SCHEDULE_LOOP_H

#include "veeline/Schedule/Simulator.h"

#include <vector>

namespace veeline::schedule {

/// Whether any operation is of the step before.
bool isCyclic(const Schedule &schedule);

/// Several steps of a schedule from an empty pipeline to an empty one: a
/// schedule without late operations, of a problem with `steps` times the
/// microbatches, m of each step in turn. Late operations of the last step stand
/// at the end of their stage. Where a stage has several ranks, expects their
/// number to divide m.
struct Unrolled {
  Problem problem;
  Schedule schedule;
};
Unrolled unroll(const Problem &problem, const Schedule &schedule, int steps);

/// How many steps of a cyclic schedule pictures show: one that begins, one in
/// the middle and one that ends.
constexpr int drawnSteps = 3;
/// `drawnSteps` of a cyclic solution, simulated; another one as it is.
Expected<Solution> drawn(const Solution &solution);

/// By rank and place in its order, when the operations of a step begin and end.
struct TurnTimes {
  std::vector<std::vector<double>> start, end;
};
/// The times of a step from an empty pipeline; of a cyclic schedule those of
/// the second one of `drawnSteps`, from the first begin of any rank on. Errors:
/// those of `simulate`.
Expected<TurnTimes> turnTimes(const Problem &problem, const Schedule &schedule);

/// Steps that follow each other without a barrier, once they have settled.
struct Loop {
  /// The time from a step to the next one, on every rank: the greatest mean of
  /// a circle of dependencies over the steps that it leads through.
  double period = 0;
  /// 1 - busy / period of the worst rank, and that rank.
  double bubble = 0;
  int rank = 0;
  /// When each rank begins its turn, in a loop in which all turns are alike.
  std::vector<double> begin;
};

/// The loop of a schedule with buffered transfers. Every rank runs its order
/// again and again, each operation as soon as the rank is free and its inputs
/// are there. A parameter that several ranks hold is updated when the last of
/// them is done. Expects an order that is complete, as `verify` checks first.
/// Error (Deadlock): ranks that wait for each other in a circle.
/// O(operations · edges per chunk) for each circle that is tried.
Expected<Loop> loopOf(const Problem &problem, const Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_LOOP_H
