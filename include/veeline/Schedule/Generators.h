//===- Generators.h - the schedules by name ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One generator a file in lib/Schedule/Generators; the table in Registry.cpp
// lists them.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_GENERATORS_H
#define VEELINE_SCHEDULE_GENERATORS_H

#include "veeline/Schedule/Simulator.h"

#include <span>
#include <string_view>

namespace veeline::schedule {

struct GeneratorOptions {
  /// What to minimise where the schedule has a choice.
  Objective objective = Objective::Makespan;
  /// Whether to pair forwards and backwards into overlapped blocks, where the
  /// schedule can.
  bool overlapBlocks = false;
  /// How long `auto` may search, and the seed of its choices. The same seed
  /// gives the same schedule as long as the budget suffices.
  double searchSeconds = 1;
  std::uint64_t seed = 0;
  /// The simulation by which `auto` chooses among what it has found. All other
  /// schedules, and the search of `auto`, are made for the default.
  SimulationOptions simulation = {};
  /// Whether W may run in the next step (Loop.h) where the objective is the
  /// period and the schedule can.
  bool maySlip = true;
  /// Whether activations may wait in the host's memory (Offload.h).
  bool offload = false;
  /// Whether a schedule that searches makes orders by list scheduling alone, to
  /// estimate what it would find. With a budget of a few milliseconds that
  /// takes not much longer.
  bool estimates = false;
};

/// The order of a problem of which only forwards are run: whatever is there
/// runs, the chunk furthest on first. For every placement, and for stages of
/// several ranks. Its backwards stand at the end, as `verify` expects; they
/// cost nothing if the problem says so, and compiled programs have none.
/// O(n log n) for n forwards.
inline constexpr const char *forwardOrderName = "forward";
Schedule forwardOrder(const Problem &problem);

/// A schedule that has a name.
struct Generator {
  std::string_view name;
  /// Where it was published.
  std::string_view paper;
  /// One line.
  std::string_view summary;
  /// The placement it is made for.
  PlacementKind placement = PlacementKind::Linear;
  /// The chunks per stage it takes; 0 as `maxChunksPerStage`: no bound.
  int minChunksPerStage = 1;
  int maxChunksPerStage = 1;
  UpdateSemantics semantics = UpdateSemantics::Synchronous;
  /// Whether it takes every placement; `placement` is what it gets when the
  /// user names none.
  bool anyPlacement = false;
  /// Whether B and W are separate operations.
  bool splitsBackward = false;
  /// Which of the `GeneratorOptions` it looks at: the objective,
  /// `overlapBlocks` (blocks need a placement with several chunks a stage), and
  /// the budget and the seed of a search.
  bool hasObjective = false;
  bool pairsBlocks = false;
  bool searches = false;
  /// Whether its orders are cyclic (Loop.h).
  bool slips = false;
  /// Expects a problem that passed `check` with a placement of the right kind.
  Expected<Schedule> (*generate)(const Problem &, const GeneratorOptions &);
};

/// All schedules, in the order in which to present them.
std::span<const Generator> generators();

/// The names of all schedules.
std::vector<std::string> scheduleNames();

/// By name. The error (UnknownSchedule) lists the known names and suggests one
/// that is near.
Expected<const Generator *> findGenerator(std::string_view name);

/// The placement that schedule `name` uses with p stages of v chunks, needed
/// to build its problem. Errors: unknown name, a v that the schedule does not
/// have (NotApplicable).
Expected<Placement> placementFor(std::string_view name, int stages,
                                 int chunksPerStage);

/// Checks the problem, generates the schedule, and verifies it. Problems with
/// `Problem::widths` are described in Widths.h. Errors besides those of
/// `check`: NotApplicable where the schedule is not defined for this problem
/// (says what to change), OutOfMemory where no order of it fits (with stage,
/// limit and the least limit that does).
Expected<Schedule> generate(std::string_view name, const Problem &problem,
                            const GeneratorOptions &options = {});

/// Completes an OutOfMemory error, as `generate` does; others stay as they are.
/// Sets `leastOfAnySchedule`. Where that is less than what the order needs, the
/// message says so and names the schedules that go down to it.
Error withLeastOfAny(const Problem &problem, Error error);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_GENERATORS_H
