//===- Bounds.h - lower bounds on any schedule ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_BOUNDS_H
#define VEELINE_SCHEDULE_BOUNDS_H

#include "veeline/Schedule/Simulator.h"

#include <vector>

namespace veeline::schedule {

/// The argument behind a lower bound.
enum class BoundKind {
  /// Work of the stage.
  Busy,
  /// Work of the stage, plus work on other stages that has to come before and
  /// after it.
  FillAndDrain,
  /// The longest chain of operations and transfers of one microbatch.
  CriticalPath,
  /// The memory limit of the stage. It admits few microbatches at once, and
  /// each of them stays for a whole round trip.
  Memory,
  /// The time from the first F of a chunk to the update of its parameters. The
  /// update has to be complete before the first F of the next step.
  Update,
};

/// "busy time", "fill and drain", "critical path", "memory" or "update".
const char *toString(BoundKind kind);

struct Bound {
  double time = 0;
  BoundKind kind = BoundKind::Busy;
};

struct StageBounds {
  /// Sum of the costs of its operations.
  double busy = 0;
  /// A bound on the makespan of all stages, by arguments about this one.
  Bound makespan;
  /// A bound on the time from its own first start to its last end.
  Bound span;
};

/// Lower bounds on the simulated times of any schedule that `verify` accepts.
/// They hold for every order and every kind of transfers, since blocking and
/// contention only delay. Infinite if a limit admits no schedule.
struct Bounds {
  /// One for each stage. If stages have several ranks, one for each rank; then
  /// `makespanStage` and `spanStage` are ranks, too.
  std::vector<StageBounds> stages;
  /// The greatest bounds, and the stages that give them. `span` is a bound on
  /// the longest span of a step.
  Bound makespan, span;
  int makespanStage = 0, spanStage = 0;
  /// The lower bounds on the bubbles (`Simulation`) that follow from these.
  double bubbleMakespan = 0, bubbleSpan = 0;
};

struct BoundOptions {
  /// Consider only schedules that never split a backward.
  bool fusedBackward = false;
};

/// The bounds, each proved where it is computed (Bounds.cpp). Expects
/// `check(problem)` to hold. O((stages + chunks with a limit) · (chunks +
/// edges) + ranks · v), whatever the number of microbatches.
Bounds lowerBounds(const Problem &problem, const BoundOptions &options = {});

/// A lower bound on the period, the time from one step to the next if steps
/// follow each other (Loop.h).
struct PeriodBound {
  Bound period;
  /// The rank that it is about.
  int rank = 0;
  /// The bubble that follows.
  double bubble = 0;

  /// With more chunks than this only busy times count, since the turns of
  /// parameters would take too long to compute.
  static constexpr int mostChunks = 4096;
};

/// The greatest of three bounds: busy times, the turns of parameters
/// (`BoundKind::Update`), and memory limits. It holds for every order,
/// including those whose W slip into the next step. Infinite if a limit admits
/// no schedule. Expects `check(problem)` to hold. O(chunks · (chunks + edges)),
/// up to `PeriodBound::mostChunks`.
PeriodBound lowerPeriodBound(const Problem &problem,
                             const BoundOptions &options = {});

/// The lower bound on the value that an objective minimises.
Bound lowerBound(const Problem &problem, Objective objective,
                 const BoundOptions &options = {});

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_BOUNDS_H
