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

/// Whether `a` reaches less of what is to be small than `b` does. They may be
/// cut and placed differently.
static bool isBetter(const Solution &a, const Solution &b,
                     Objective objective) {
  return objective == Objective::Makespan
             ? a.simulation.makespan < b.simulation.makespan
             : a.simulation.bubbleSpan < b.simulation.bubbleSpan;
}

std::vector<Expected<Solution>>
veeline::schedule::solveForLimits(const std::vector<std::int64_t> &limits,
                                  Objective objective,
                                  const LimitSolver &solve) {
  std::vector<Expected<Solution>> result;
  std::optional<Solution> best;
  for (std::int64_t limit : limits) {
    Expected<Solution> solution = solve(limit);
    // Of equally good ones, the one with less memory.
    if (best && (!solution || !isBetter(*solution, *best, objective))) {
      best->problem.memoryLimits.assign(best->problem.stages(), limit);
      solution = *best;
    }
    if (solution)
      best = *solution;
    result.push_back(std::move(solution));
  }
  return result;
}

std::vector<Expected<Schedule>>
veeline::schedule::autoForLimits(Problem problem,
                                 const std::vector<std::int64_t> &limits,
                                 const GeneratorOptions &options) {
  auto solve = [&](std::int64_t limit) -> Expected<Solution> {
    problem.memoryLimits.assign(problem.stages(), limit);
    Expected<Schedule> schedule = generate("auto", problem, options);
    if (!schedule)
      return schedule.takeError();
    return schedule::solve(problem, std::move(*schedule));
  };
  std::vector<Expected<Schedule>> result;
  for (Expected<Solution> &solution :
       solveForLimits(limits, options.objective, solve))
    if (solution)
      result.push_back(std::move(solution->schedule));
    else
      result.push_back(solution.takeError());
  return result;
}
