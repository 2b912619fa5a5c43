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

std::vector<Placement> veeline::schedule::autoPlacements(int stages,
                                                         int chunksPerStage) {
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

Expected<AutoChoice>
veeline::schedule::autoAmong(std::vector<Placement> placements,
                             const ProblemMaker &makeProblem,
                             const GeneratorOptions &options) {
  GeneratorOptions share = options;
  share.searchSeconds /= std::max<std::size_t>(1, placements.size());
  Error lastError{ErrorKind::NotApplicable, "there is no placement to choose"};
  std::optional<std::pair<double, AutoChoice>> best;
  for (Placement &placement : placements) {
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
    Expected<Simulation> simulation =
        simulate(*problem, *schedule, options.simulation);
    if (!simulation)
      return simulation.takeError();
    double value = simulation->value(options.objective);
    // A smaller difference is rounding.
    if (!best || value < best->first * (1 - 1e-12))
      best.emplace(value,
                   AutoChoice{std::move(placement), std::move(*schedule)});
  }
  if (!best)
    return lastError;
  return std::move(best->second);
}

std::vector<Expected<Solution>>
veeline::schedule::solveForLimits(const std::vector<std::int64_t> &limits,
                                  Objective objective,
                                  const LimitSolver &solve) {
  std::vector<Expected<Solution>> result;
  std::optional<Solution> best;
  for (std::int64_t limit : limits) {
    Expected<Solution> solution = solve(limit);
    // Of equally good schedules, keeps the one with less memory.
    if (best && (!solution || solution->simulation.value(objective) >=
                                  best->simulation.value(objective))) {
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
    Expected<Simulation> simulation =
        simulate(problem, *schedule, options.simulation);
    if (!simulation)
      return simulation.takeError();
    return Solution{problem, std::move(*schedule), std::move(*simulation)};
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
