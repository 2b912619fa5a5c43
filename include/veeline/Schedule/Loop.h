//===- Loop.h - steps that follow each other --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training runs one step after the other. Without a barrier between steps, a
// stage begins a step while others still work on the previous one. What counts
// then is the *period*, the time from one step to the next, and not the time of
// a step from an empty pipeline to an empty one.
//
// An order is then one *turn* of a loop. It is *cyclic* if some of its W are
// `late`, that is, of the previous step. A late W fills time that would be idle
// at the beginning of the next step. Gradients are the same: a late W is before
// the first F of its chunk, so the parameters are updated with all gradients of
// a step before the next step uses them.
//
// If steps do not wait for updates (`Problem::updates`), whole backwards may be
// late. If a late backward takes gradients from a backward on another rank that
// is not late, it received them in the previous turn.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_LOOP_H
#define VEELINE_SCHEDULE_LOOP_H

#include "veeline/Schedule/Simulator.h"

#include <vector>

namespace veeline::schedule {

/// Whether any operation is late.
bool isCyclic(const Schedule &schedule);

/// Several steps of a schedule, from an empty pipeline to an empty one. The
/// schedule has no late operations. The problem has `steps` times the m
/// microbatches of one step, m of each step in turn. The late operations of the
/// last step are at the end of their stage. Expects the number of ranks of each
/// stage to divide m.
struct Unrolled {
  Problem problem;
  Schedule schedule;
};
Unrolled unroll(const Problem &problem, const Schedule &schedule, int steps);

/// The number of steps that pictures of a cyclic schedule show: the first one,
/// one in the middle and the last one.
constexpr int drawnSteps = 3;
/// `drawnSteps` steps of a cyclic solution, simulated. Other solutions are
/// returned unchanged.
Expected<Solution> drawn(const Solution &solution);

/// When the operations of a step begin and end, by rank and position in its
/// order.
struct TurnTimes {
  std::vector<std::vector<double>> start, end;
};
/// The times of a step from an empty pipeline. For a cyclic schedule, those of
/// the second step of `drawnSteps`, counted from the first begin of any rank.
/// Errors: those of `simulate`.
Expected<TurnTimes> turnTimes(const Problem &problem, const Schedule &schedule);

/// The steady state of steps that follow each other without a barrier.
struct Loop {
  /// The time from one step to the next, the same on every rank: the maximum,
  /// over all cycles of dependencies, of time divided by steps.
  double period = 0;
  /// 1 - busy / period of the worst rank, and the number of that rank.
  double bubble = 0;
  int rank = 0;
  /// When each rank begins its turn, if all turns are alike.
  std::vector<double> begin;
};

/// The loop of a schedule with buffered transfers. Every rank repeats its order
/// and runs each operation as soon as the rank is free and the inputs are
/// available. A parameter on several ranks is updated when the last of them is
/// done. Expects a complete order (the first checks of `verify`). Error
/// (Deadlock): ranks wait for each other in a cycle. O(operations · edges per
/// chunk) for each cycle that is tried.
Expected<Loop> loopOf(const Problem &problem, const Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_LOOP_H
