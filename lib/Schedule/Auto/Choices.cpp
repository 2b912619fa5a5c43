//===- Choices.cpp - placements and limits for `auto` ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Auto.h"

#include "Search.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>

using namespace veeline::schedule;

/// The makespan or the longest span: of one problem cut in different ways, in
/// one unit.
static Expected<double> valueOf(const Problem &problem,
                                const Schedule &schedule, Objective objective) {
  Expected<Simulation> simulation = simulate(problem, schedule);
  if (!simulation)
    return simulation.takeError();
  if (objective == Objective::Makespan)
    return simulation->makespan;
  double longest = 0;
  for (const StageStatistics &stage : simulation->stages)
    longest = std::max(longest, stage.lastEnd - stage.firstStart);
  return longest;
}

static std::vector<Placement> placements(int stages, int chunksPerStage) {
  std::vector<Placement> result;
  auto add = [&](PlacementKind kind, int v) {
    if (chunksPerStage != 0 && chunksPerStage != v)
      return;
    Expected<Placement> placement = Placement::get(kind, stages, v);
    if (placement)
      result.push_back(std::move(*placement));
  };
  add(PlacementKind::Linear, 1);
  add(PlacementKind::V, 2);
  add(PlacementKind::Interleaved, 2);
  int many = chunksPerStage > 2 ? chunksPerStage : 4;
  add(PlacementKind::Wave, many);
  add(PlacementKind::Interleaved, many);
  return result;
}

Expected<Placement>
veeline::schedule::autoPlacement(int stages, int chunksPerStage,
                                 const ProblemMaker &makeProblem,
                                 const GeneratorOptions &options) {
  std::vector<Placement> candidates = placements(stages, chunksPerStage);
  GeneratorOptions share = options;
  share.searchSeconds /= std::max<std::size_t>(1, candidates.size());
  Error lastError{ErrorKind::InvalidProblem,
                  "no placement has " + std::to_string(stages) + " stages of " +
                      std::to_string(chunksPerStage) + " chunks"};
  std::optional<std::pair<double, Placement>> best;
  for (Placement &placement : candidates) {
    Expected<Problem> problem = makeProblem(placement);
    if (!problem) {
      lastError = problem.takeError();
      continue;
    }
    Expected<Schedule> schedule = generate("auto", *problem, share);
    if (!schedule) {
      lastError = schedule.takeError();
      continue;
    }
    Expected<double> value = valueOf(*problem, *schedule, options.objective);
    if (!value)
      return value.takeError();
    // What the search misses is more than rounding; fewer chunks mean fewer
    // messages.
    if (!best || *value < best->first * (1 - 1e-6))
      best.emplace(*value, std::move(placement));
  }
  if (!best)
    return lastError;
  return std::move(best->second);
}

std::vector<Expected<Schedule>>
veeline::schedule::autoForLimits(Problem problem,
                                 const std::vector<std::int64_t> &limits,
                                 const GeneratorOptions &options) {
  std::vector<Expected<Schedule>> result;
  std::optional<std::size_t> best;
  double bestValue = 0;
  for (std::int64_t limit : limits) {
    problem.memoryLimits.assign(problem.stages(), limit);
    Expected<Schedule> schedule = generate("auto", problem, options);
    if (schedule) {
      FlatProblem flat(problem);
      Expected<Simulation> simulation = simulate(problem, *schedule);
      double value =
          simulation ? scoreOf(flat, options.objective, *simulation) : 0;
      if (best && value > bestValue) {
        schedule = result[*best];
      } else {
        best = result.size();
        bestValue = value;
      }
    }
    result.push_back(std::move(schedule));
  }
  return result;
}
