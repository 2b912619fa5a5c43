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
  /// A message is sent when its producer ends, and is buffered until its
  /// consumer starts. Computing never waits for sending.
  Buffered,
  /// Sends and receives block. The stages make the `blockingCalls` of
  /// `communicationOrder`, which is that of the buffered times. A message
  /// starts when both of its stages have called it, takes the time of its edge,
  /// and blocks both until it ends.
  Rendezvous,
};

struct SimulationOptions {
  Transfers transfers = Transfers::Buffered;
  /// Whether a link carries one message at a time. There is one link for each
  /// direction between two stages, or between two ranks if stages have several.
  /// Messages pass in the order of their producers on the sending stage; those
  /// of one operation in the order of the edges. A message starts when it has
  /// been produced and the link is free. A rendezvous is not affected, since a
  /// stage has only one message at a time then.
  bool contention = false;

  friend bool operator==(const SimulationOptions &,
                         const SimulationOptions &) = default;
};

/// The times in which a stage does not compute, by reason. With its busy time
/// they add up to the makespan.
struct Waiting {
  /// Before its first operation.
  double fill = 0;
  /// For the outputs of other stages' forwards, and for gradients. If an
  /// overlapped block waits for both, the one that arrives last counts (on a
  /// tie, the forward). In a rendezvous these are all the time spent in
  /// receives, from the call to the end of the message.
  double forward = 0;
  double gradient = 0;
  /// In sends; 0 if transfers are buffered.
  double send = 0;
  /// For a copy to the host's memory or back, if all other inputs come earlier.
  double offload = 0;
  /// After its last operation, until all stages have finished.
  double drain = 0;

  double total() const {
    return fill + forward + gradient + send + offload + drain;
  }
};

/// The measure of a schedule, which is to be small.
enum class Objective {
  /// The time of one step over all stages, for a synchronous optimiser.
  Makespan,
  /// The longest time of a stage from its own first to its own last operation,
  /// as in the zero-bubble papers, for an optimiser that is validated
  /// afterwards. The search of `auto`, and nothing else, divides it by the
  /// stage's busy time.
  Span,
  /// The time from one step to the next, if steps follow each other without a
  /// barrier (Loop.h).
  Period,
};

/// "makespan", "span" or "period".
const char *toString(Objective objective);
/// None for an unknown name.
std::optional<Objective> parseObjective(std::string_view name);

/// The share of `time` in which a stage is not busy: 1 - busy / time; 0 if
/// `time` is 0.
double bubbleOf(double busy, double time);

/// Statistics of one stage over a step.
struct StageStatistics {
  /// The time in which it computes: the costs of its operations, and the times
  /// of overlapped blocks.
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
  /// The memory is free between these times: when the rank has reached the step
  /// `leaves` and has waited there, and when it has reached `returns`.
  double left = 0, returned = 0;

  friend bool operator==(const OffloadTimes &, const OffloadTimes &) = default;
};

/// Times and memory of a schedule, in the units of the problem. The inner
/// vectors are indexed like the order of the stage. If stages have several
/// ranks (`Problem::widths`), read "rank" for "stage".
struct Simulation {
  std::vector<std::vector<double>> start;
  std::vector<std::vector<double>> end;
  /// The memory of the stage after each operation. For the first operation of
  /// an overlapped block, it is the memory while the block runs.
  std::vector<std::vector<std::int64_t>> memory;
  std::vector<StageStatistics> stages;
  /// As `Schedule::offloads`.
  std::vector<std::vector<OffloadTimes>> offloads = {};
  /// From time 0 to the end of the last operation.
  double makespan = 0;
  /// 1 - busy / makespan of the worst stage, with the makespan of all stages.
  /// It is the bubble of a step with a synchronous optimiser.
  double bubbleMakespan = 0;
  /// The same with each stage's own span instead of the makespan, as the
  /// zero-bubble papers define it.
  double bubbleSpan = 0;
  /// The time from one step to the next if steps follow each other (Loop.h),
  /// and 1 - busy / period of the worst stage. Both are 0 if transfers are not
  /// those of the default options.
  double period = 0;
  double bubbleSteady = 0;
  /// The options of this simulation.
  SimulationOptions options = {};

  double longestSpan() const;
  /// That of the worst stage.
  std::int64_t peakMemory() const;
  /// The value that an objective minimises: the makespan, the longest span, or
  /// the period if known. It is a time, so that different cuts and placements
  /// of one problem can be compared.
  double value(Objective objective) const;
};

/// Simulates the schedule. Every stage runs its order, and each operation (or
/// overlapped block) starts as soon as the stage is free and the inputs are
/// available. A transfer between stages takes the time of its edge.
///
/// Each rank has one link to the host's memory and one back, and each link
/// carries one copy at a time. Copies to the host are in the order of their F.
/// Copies back are in the order of the steps where they begin; at one step, in
/// the order of their readers.
///
/// For a cyclic schedule, the times are those of one step alone, in which late
/// operations run after all others of their stage. Memory is that of the loop.
///
/// Errors: Deadlock, UnknownOp, WrongStage, Missing, Duplicate or WrongBlock if
/// the order cannot run; `verify` checks more. InvalidProblem for offloads with
/// a rendezvous. O(operations · edges per chunk); a rendezvous also takes the
/// sort of `communicationOrder`.
Expected<Simulation> simulate(const Problem &problem, const Schedule &schedule,
                              const SimulationOptions &options = {});

/// A stage holds `memory` from `time` until the next point.
struct MemoryPoint {
  double time;
  std::int64_t memory;

  friend bool operator==(const MemoryPoint &, const MemoryPoint &) = default;
};

/// The memory of one stage over time. Operations add memory when they start and
/// release it when they end. The curve starts with {0, 0}, and times ascend
/// strictly: of several changes at one time only the last value is kept, so a
/// peak of no duration is not in it. For a cyclic schedule, use the result of
/// `drawn` (Loop.h).
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
