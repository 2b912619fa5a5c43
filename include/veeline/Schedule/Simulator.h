//===- Simulator.h - predicted times and memory of a schedule ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_SIMULATOR_H
#define VEELINE_SCHEDULE_SIMULATOR_H

#include "veeline/Schedule/Schedule.h"

#include <cstdint>
#include <vector>

namespace veeline::schedule {

/// What one stage does over a step.
struct StageStatistics {
  /// Sum of the costs of its operations.
  double busy = 0;
  double firstStart = 0;
  double lastEnd = 0;
  std::int64_t peakMemory = 0;
};

/// Times and memory of a schedule, in the units of the problem. The inner
/// vectors are indexed like the order of the stage.
struct Simulation {
  std::vector<std::vector<double>> start;
  std::vector<std::vector<double>> end;
  /// Memory of the stage after each operation.
  std::vector<std::vector<std::int64_t>> memory;
  std::vector<StageStatistics> stages;
  /// From time 0 to the end of the last operation.
  double makespan = 0;
  /// 1 - busy / makespan of the worst stage, with the makespan of all stages:
  /// what a step with a synchronous optimiser costs.
  double bubbleMakespan = 0;
  /// The same with each stage's own time from its first start to its last end:
  /// the zero-bubble papers' definition.
  double bubbleSpan = 0;
};

/// Runs the schedule: every stage in its order, each operation as soon as the
/// stage is free and its inputs are there. A transfer between stages costs
/// what its edge says; links do not contend and computing never waits for
/// sending (messages are buffered). An error (Deadlock, UnknownOp, WrongStage,
/// Missing, Duplicate) where the order cannot run; `verify` says more.
/// O(operations · edges per chunk).
Expected<Simulation> simulate(const Problem &problem, const Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_SIMULATOR_H
