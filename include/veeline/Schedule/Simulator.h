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

/// How messages pass between stages.
enum class Transfers {
  /// A message leaves when its producer ends and is kept until its consumer
  /// starts; computing never waits for sending.
  Buffered,
  /// Sends and receives block: the stages make the `blockingCalls` of
  /// `communicationOrder` (of the buffered times). A message starts when both
  /// of its stages have called it, takes the time of its edge, and holds both
  /// until it ends.
  Rendezvous,
};

struct SimulationOptions {
  Transfers transfers = Transfers::Buffered;
  /// Whether the link from one stage to another (each direction by itself)
  /// carries one message at a time, in the order of their producers on the
  /// sending stage, those of one operation in the order of the edges. Where
  /// stages have several ranks, each pair of ranks has links of its own. A
  /// message then takes its time from when it is produced or the link is free,
  /// whichever is later. Makes no difference to a rendezvous, where a stage has
  /// one message at a time anyway.
  bool contention = false;

  friend bool operator==(const SimulationOptions &,
                         const SimulationOptions &) = default;
};

/// Why a stage does not compute. Busy time and these add up to the makespan.
struct Waiting {
  /// Before its first operation.
  double fill = 0;
  /// For the outputs of other stages' forwards, and for gradients. Where an
  /// overlapped block waits for both, the one that comes last counts (on a tie,
  /// the forward). In a rendezvous, all time spent in receives, from the call
  /// to the end of the message.
  double forward = 0;
  double gradient = 0;
  /// In sends; 0 where transfers are buffered.
  double send = 0;
  /// For a copy to the host's memory or back, where nothing else comes later.
  double offload = 0;
  /// After its last operation, until all stages have finished.
  double drain = 0;

  double total() const {
    return fill + forward + gradient + send + offload + drain;
  }
};

/// What a schedule is measured by.
enum class Objective {
  /// Time of one step over all stages (a synchronous optimiser).
  Makespan,
  /// The longest time of a stage from its own first to its own last operation,
  /// as in the zero-bubble papers (an optimiser that is validated afterwards).
  /// Only the search of `auto` takes it as a multiple of the stage's busy time.
  Span,
  /// The time from one step to the next where steps follow each other without
  /// a barrier (Loop.h).
  Period,
};

/// "makespan", "span" or "period".
const char *toString(Objective objective);
/// None for another name.
std::optional<Objective> parseObjective(std::string_view name);

/// The share of `time` in which a stage is not busy: 1 - busy / time, or 0
/// where nothing takes time.
double bubbleOf(double busy, double time);

/// What one stage does over a step.
struct StageStatistics {
  /// Time in which it computes: the costs of its operations, of overlapped ones
  /// the time of the block.
  double busy = 0;
  Waiting waiting = {};
  double firstStart = 0;
  double lastEnd = 0;
  std::int64_t peakMemory = 0;

  /// From its own first to its own last operation.
  double span() const { return lastEnd - firstStart; }
};

/// When the copies of an offload run.
struct OffloadTimes {
  double outStart = 0, outEnd = 0;
  double backStart = 0, backEnd = 0;
  /// When the rank has come to the step `leaves` and has waited there, and when
  /// it has come to `returns`: from the one to the other the memory is free.
  double left = 0, returned = 0;

  friend bool operator==(const OffloadTimes &, const OffloadTimes &) = default;
};

/// Times and memory of a schedule, in the units of the problem. The inner
/// vectors are indexed like the order of the stage. Where stages have several
/// ranks (`Problem::widths`), everything is of ranks.
struct Simulation {
  std::vector<std::vector<double>> start;
  std::vector<std::vector<double>> end;
  /// Memory of the stage after each operation; for the first one of an
  /// overlapped block, while the block runs.
  std::vector<std::vector<std::int64_t>> memory;
  std::vector<StageStatistics> stages;
  /// As `Schedule::offloads`.
  std::vector<std::vector<OffloadTimes>> offloads = {};
  /// From time 0 to the end of the last operation.
  double makespan = 0;
  /// 1 - busy / makespan of the worst stage, with the makespan of all stages:
  /// what a step with a synchronous optimiser costs.
  double bubbleMakespan = 0;
  /// The same with each stage's own time from its first start to its last end:
  /// the zero-bubble papers' definition.
  double bubbleSpan = 0;
  /// The time from one step to the next where steps follow each other (Loop.h),
  /// and 1 - busy / period of the worst stage. Both are 0 where transfers are
  /// not those of the default options.
  double period = 0;
  double bubbleSteady = 0;
  /// What was asked for.
  SimulationOptions options = {};

  double longestSpan() const;
  /// Of the worst stage.
  std::int64_t peakMemory() const;
  /// What an objective minimises: the makespan, the longest span or the period,
  /// where that is known. As times, values compare across cuts and placements
  /// of one problem.
  double value(Objective objective) const;
};

/// Runs the schedule: every stage in its order, each operation (or overlapped
/// block) as soon as the stage is free and its inputs are there. A transfer
/// between stages costs what its edge says. An error (Deadlock, UnknownOp,
/// WrongStage, Missing, Duplicate, WrongBlock) where the order cannot run;
/// `verify` says more. Copies to the host's memory run one after the other, in
/// the order of their F, and so do copies back, in the order of the steps where
/// they begin and, of one step, of their readers; each way has a link of its
/// own for each rank. With a rendezvous, what is offloaded is an error
/// (InvalidProblem). Of a cyclic schedule, times are those of one step alone,
/// in which what is late runs after everything else of its stage; memory is
/// that of a loop. O(operations · edges per chunk), for a rendezvous plus the
/// sort of `communicationOrder`.
Expected<Simulation> simulate(const Problem &problem, const Schedule &schedule,
                              const SimulationOptions &options = {});

/// From `time` on, until the next one, a stage holds `memory`.
struct MemoryPoint {
  double time;
  std::int64_t memory;

  friend bool operator==(const MemoryPoint &, const MemoryPoint &) = default;
};

/// The memory of one stage over time: what adds does so when it starts, what
/// releases when it ends. Starts with {0, 0}; times ascend strictly (of changes
/// at one time the last one stands, so a peak that lasts no time is not in it).
/// Of a cyclic schedule, ask for that of `drawn` (Loop.h).
std::vector<MemoryPoint> memoryCurve(const Problem &problem,
                                     const Schedule &schedule,
                                     const Simulation &simulation, int stage);

/// A schedule, the problem that it solves, and its predicted times.
struct Solution {
  Problem problem;
  Schedule schedule;
  Simulation simulation;
};

/// Verifies and simulates. Errors: those of `verify`.
Expected<Solution> solve(Problem problem, Schedule schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_SIMULATOR_H
