//===- Generators.h - the schedules by name ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generators of schedules. Each has a file in lib/Schedule/Generators; the
// table in Registry.cpp lists them.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_GENERATORS_H
#define VEELINE_SCHEDULE_GENERATORS_H

#include "veeline/Schedule/Simulator.h"

#include <span>
#include <string_view>

namespace veeline::schedule {

struct GeneratorOptions {
  /// What to minimise, if the schedule has a choice.
  Objective objective = Objective::Makespan;
  /// Whether to pair forwards and backwards into overlapped blocks, if the
  /// schedule can.
  bool overlapBlocks = false;
  /// How long `auto` may search, and the seed of its random choices. The same
  /// seed gives the same schedule as long as the budget suffices.
  double searchSeconds = 1;
  std::uint64_t seed = 0;
  /// The simulation by which `auto` chooses among its candidates. The search
  /// itself, and all other schedules, assume the default.
  SimulationOptions simulation = {};
  /// Whether W may run in the next step (Loop.h), if the objective is the
  /// period and the schedule can.
  bool maySlip = true;
  /// Whether activations may wait in the host's memory (Offload.h).
  bool offload = false;
  /// Whether a schedule that searches uses list scheduling alone, to estimate
  /// what it would find. With a budget of a few milliseconds it takes little
  /// longer than that.
  bool estimates = false;
};

/// The order for a problem of which only forwards are run. A stage runs
/// whichever forward has its inputs, that of the last chunk first. Applies to
/// every placement, and to stages of several ranks. The backwards, which
/// `verify` expects, are at the end. They cost nothing if the problem says so,
/// and compiled programs have none. O(n log n) for n forwards.
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
  /// The range of chunks per stage. A `maxChunksPerStage` of 0 is no bound.
  int minChunksPerStage = 1;
  int maxChunksPerStage = 1;
  UpdateSemantics semantics = UpdateSemantics::Synchronous;
  /// Whether it applies to every placement. `placement` is then the default.
  bool anyPlacement = false;
  /// Whether B and W are separate operations.
  bool splitsBackward = false;
  /// Which of the `GeneratorOptions` it uses: the objective, `overlapBlocks`
  /// (blocks need several chunks a stage), and the budget and seed of a search.
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

/// Finds a generator by name. The error (UnknownSchedule) lists the known names
/// and suggests a similar one.
Expected<const Generator *> findGenerator(std::string_view name);

/// The placement that schedule `name` uses for p stages of v chunks, which its
/// problem needs. Errors: UnknownSchedule; NotApplicable for a v that the
/// schedule does not have.
Expected<Placement> placementFor(std::string_view name, int stages,
                                 int chunksPerStage);

/// Checks the problem, generates the schedule, and verifies it. For problems
/// with `Problem::widths`, see Widths.h. Errors besides those of `check`:
/// - NotApplicable if the schedule is not defined for this problem; the message
///   says what to change;
/// - OutOfMemory if no order of this schedule fits; the message has the stage,
///   its limit, and the least limit that fits.
Expected<Schedule> generate(std::string_view name, const Problem &problem,
                            const GeneratorOptions &options = {});

/// Completes an OutOfMemory error, as `generate` does; returns other errors
/// unchanged. Sets `leastOfAnySchedule`. If that is less than the order needs,
/// the message says so and names the schedules that reach it.
Error withLeastOfAny(const Problem &problem, Error error);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_GENERATORS_H
