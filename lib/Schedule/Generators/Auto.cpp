//===- Auto.cpp - the best of all schedules, and a search -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This schedule is ours, not from a paper. It supports every placement, and
// splits the backward.
//
// It takes the best schedule, by the objective, of three sources:
// - every other synchronous schedule that is defined for the problem, so that
//   `auto` is never worse than any of them, and zb-1p with all the memory;
// - list scheduling in many variants (Auto/ListScheduler.h): a table of good
//   ones, then variations of the best. Some follow a plan with a pace for every
//   pass through the stages, as the papers' repeating patterns do;
// - local search (Auto/LocalSearch.h): annealing over the orders of the stages,
//   from the best of both.
// A part of the work goes into list scheduling with one activation less memory,
// which finds other orders.
//
// If `GeneratorOptions::simulation` is not the default, all schedules that were
// found are compared by that simulation.
//
// The bubble has no closed form. The search ends when a lower bound (Bounds.h)
// proves that no schedule is better, as it does on a V with m >= 2p and p
// activations for most costs. Otherwise it ends with its budget.
//
//===----------------------------------------------------------------------===//

#include "../Auto/Search.h"
#include "Generators.h"
#include "veeline/Schedule/Limits.h"

#include <algorithm>

using namespace veeline::schedule;

namespace {
/// The best schedule of the portfolio.
struct Portfolio {
  bool found = false;
  double score = 0;
  std::int64_t peak = 0;
  Schedule schedule;
};

/// Chooses by the simulation that the user asked for, if that is not the one
/// for which schedules are made.
class Judge {
public:
  Judge(const Problem &problem, const FlatProblem &flat,
        const GeneratorOptions &options)
      : problem(problem), flat(flat), options(options) {}

  /// Whether the simulation differs from that of the search.
  bool isNeeded() const {
    return options.simulation != SimulationOptions() &&
           options.objective != Objective::Period;
  }
  void offer(const Schedule &schedule);
  std::optional<Schedule> takeBest() { return std::move(best); }

private:
  const Problem &problem;
  const FlatProblem &flat;
  const GeneratorOptions &options;
  double score = 0;
  std::optional<Schedule> best;
};
} // namespace

void Judge::offer(const Schedule &schedule) {
  if (!isNeeded())
    return;
  Expected<Simulation> simulation =
      simulate(problem, schedule, options.simulation);
  if (!simulation)
    return;
  double value = scoreOf(flat, options.objective, *simulation);
  if (best && value >= score)
    return;
  score = value;
  best = schedule;
}

/// Tries a schedule. Its orders also go into the pool.
static void consider(const Problem &problem, const FlatProblem &flat,
                     Objective objective, Expected<Schedule> schedule,
                     Pool &pool, Judge &judge, Portfolio &best) {
  if (!schedule)
    return;
  judge.offer(*schedule);
  Expected<Simulation> simulation = simulate(problem, *schedule);
  if (!simulation)
    return;
  double score = scoreOf(flat, objective, *simulation);
  std::int64_t peak = simulation->peakMemory();
  if (std::optional<FlatOrders> orders = flatten(flat, *schedule))
    pool.offer(score, std::move(*orders));
  if (!best.found || std::pair(score, peak) < std::pair(best.score, best.peak))
    best = {true, score, peak, std::move(*schedule)};
}

/// Tries all other schedules.
static Portfolio tryOthers(const Problem &problem, const FlatProblem &flat,
                           const GeneratorOptions &options, Pool &pool,
                           Judge &judge) {
  Portfolio best;
  for (const Generator &generator : generators())
    if (generator.generate != generateAuto &&
        generator.semantics == UpdateSemantics::Synchronous &&
        (!generator.slips || options.objective == Objective::Period))
      consider(problem, flat, options.objective,
               generate(generator.name, problem, options), pool, judge, best);
  if (problem.placement.kind() != PlacementKind::Linear)
    return best;
  // This generator does not support periods.
  GeneratorOptions other = options;
  for (Objective objective : {Objective::Span, Objective::Makespan}) {
    if (options.objective != Objective::Period &&
        options.objective != objective)
      continue;
    other.objective = objective;
    Expected<Schedule> more = generateZeroBubbleInLimit(problem, other);
    if (more && verify(problem, *more))
      consider(problem, flat, options.objective, std::move(more), pool, judge,
               best);
  }
  return best;
}

/// Searches orders for one activation less memory on every stage, if that is
/// possible.
static void tryLessMemory(const Problem &problem, const FlatProblem &flat,
                          const GeneratorOptions &options, std::int64_t units,
                          Work &work, Pool &pool) {
  if (problem.memoryLimits.empty())
    return;
  Problem tighter = problem;
  for (int stage = 0; stage < flat.stages(); ++stage) {
    std::int64_t least = leastLimit(flat, stage);
    tighter.memoryLimits[stage] -= least;
    if (least == 0 || tighter.memoryLimits[stage] < least)
      return;
  }
  searchVariants(tighter, FlatProblem(tighter),
                 goalOf(tighter, options.objective), options.seed, units, work,
                 pool);
}

/// Generates orders for both objectives of single steps, and returns the one
/// with the shorter period. Each takes half of the time.
static Expected<Schedule> bestOfSteps(const Problem &problem,
                                      GeneratorOptions options) {
  options.searchSeconds /= 2;
  std::optional<Expected<Schedule>> best;
  double shortest = 0;
  for (Objective objective : {Objective::Span, Objective::Makespan}) {
    options.objective = objective;
    Expected<Schedule> found = generateAuto(problem, options);
    if (!found)
      return found;
    Expected<Simulation> simulation = simulate(problem, *found);
    if (!simulation)
      return simulation.takeError();
    if (best && simulation->period >= shortest)
      continue;
    shortest = simulation->period;
    best = std::move(found);
  }
  return std::move(*best);
}

Expected<Schedule>
veeline::schedule::generateAuto(const Problem &problem,
                                const GeneratorOptions &options) {
  if (options.estimates)
    return listedSchedule(problem, options, "auto");
  if (options.objective == Objective::Period && !options.maySlip)
    return bestOfSteps(problem, options);
  if (Status status = checkLimits(problem); !status)
    return status.takeError();
  FlatProblem flat(problem);
  Pool pool;
  Judge judge(problem, flat, options);
  Portfolio others = tryOthers(problem, flat, options, pool, judge);
  // A limit that admits some order may still admit none that passes the chunks
  // of a stage in model order, as `sequential` and the search do.
  if (!others.found && !admitsSplit(flat))
    return generate("sequential", problem, options);

  Work work(options.searchSeconds);
  std::int64_t total = work.remaining();
  Goal goal = goalOf(problem, options.objective);
  bool isPeriod = options.objective == Objective::Period;
  if (admitsSplit(flat) && (!isPeriod || isWorthLooping(flat, total)) &&
      (!others.found || !goal.isReachedBy(others.score))) {
    // Short steps gain more from local search, long ones from variants.
    bool isLong = flat.nodes() > total / 10'000;
    bool isShort = flat.nodes() < total / 50'000;
    searchVariants(problem, flat, goal, options.seed,
                   total *
                       (isLong    ? 7
                        : isShort ? 3
                                  : 5) /
                       10,
                   work, pool);
    if (!isLong)
      tryLessMemory(problem, flat, options, total / 10, work, pool);
    searchOrders(flat, goal, options.seed, work, pool);
  }
  for (std::size_t i = 0; i < pool.size() && judge.isNeeded(); ++i)
    judge.offer(unflatten(flat, pool[i].orders));
  if (isPeriod) {
    Expected<Schedule> starter = others.found
                                     ? std::move(others.schedule)
                                     : generate("sequential", problem, options);
    if (!starter)
      return starter;
    return bestLoop(problem, flat, pool, std::move(*starter), "auto");
  }
  Schedule schedule = std::move(others.schedule);
  // Of equally good schedules, takes the one whose backwards are all split.
  double tolerance = 1e-12 * others.score;
  if (!others.found ||
      (!pool.empty() && pool[0].score <= others.score + tolerance))
    schedule = unflatten(flat, pool[0].orders);
  if (std::optional<Schedule> judged = judge.takeBest())
    schedule = std::move(*judged);
  schedule.name = "auto";
  return schedule;
}
