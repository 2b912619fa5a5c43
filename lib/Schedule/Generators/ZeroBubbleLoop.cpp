//===- ZeroBubbleLoop.cpp - zero bubble without a drain -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This schedule is ours, not from a paper. Steps follow each other without a
// barrier, as the iterations of a software pipeline do, and W slip past the end
// of their step into the beginning of the next one (Loop.h). In a V, the chunk
// of the second half is used late in a step, so its W fill the time that the
// first F's would leave empty. Every gradient and every update is that of a
// synchronous schedule.
//
// The search starts from the zero-bubble schedule of the placement for one
// step, and from list scheduling of a few steps at once (Auto/LoopLists.h). It
// improves the best of these by local search (Auto/LocalSearch.h), in a quarter
// of the time that a search may take. `auto` with the period as objective does
// the same with more candidates and all of the time.
//
//===----------------------------------------------------------------------===//

#include "../Auto/Search.h"
#include "Generators.h"
#include "veeline/Schedule/Execution.h"

#include <algorithm>

using namespace veeline::schedule;

/// The schedule for one step with which loops begin.
static std::string_view starterOf(const Placement &placement) {
  switch (placement.kind()) {
  case PlacementKind::V:
    return "zb-v";
  case PlacementKind::Wave:
    return "zb-wave";
  case PlacementKind::Interleaved:
    return "interleaved-zb";
  case PlacementKind::Linear:
  case PlacementKind::List:
    break;
  }
  return "sequential";
}

/// Returns the problem with the memory that a search may use: the limits, or
/// else what the starter needs.
static Problem limited(const Problem &problem, const Schedule &starter) {
  Problem result = problem;
  for (int stage = 0; problem.memoryLimits.empty() && stage < problem.stages();
       ++stage) {
    std::vector<std::int64_t> held = memoryAfter(problem, starter, stage);
    result.memoryLimits.push_back(
        std::max<std::int64_t>(0, *std::max_element(held.begin(), held.end())));
  }
  return result;
}

Expected<Schedule>
veeline::schedule::generateZeroBubbleLoop(const Problem &problem,
                                          const GeneratorOptions &options) {
  if (options.estimates) {
    GeneratorOptions period = options;
    period.objective = Objective::Period;
    return listedSchedule(problem, period, "zb-loop");
  }
  std::string_view name = starterOf(problem.placement);
  Expected<ScheduleByPeriod> starter =
      generateByPeriod(**findGenerator(name), problem, options);
  // `sequential` fits if any schedule does.
  if (!starter || !verify(problem, starter->schedule))
    starter = generateByPeriod(**findGenerator("sequential"), problem, options);
  if (!starter)
    return starter.takeError();

  Problem within = limited(problem, starter->schedule);
  FlatProblem flat(within);
  Goal goal = goalOf(within, Objective::Period);
  Pool pool;
  // For long steps, there is little to gain and no time.
  Work work(options.searchSeconds / 4);
  std::int64_t total = work.remaining();
  if (admitsSplit(flat) && !goal.isReachedBy(starter->period) &&
      isWorthLooping(flat, total)) {
    if (std::optional<FlatOrders> orders = flatten(flat, starter->schedule))
      pool.offer(starter->period, std::move(*orders));
    searchVariants(within, flat, goal, options.seed, total / 3, work, pool);
    searchOrders(flat, goal, options.seed, work, pool);
  }
  return bestLoop(problem, flat, pool, std::move(starter->schedule), "zb-loop");
}
