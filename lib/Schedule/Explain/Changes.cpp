//===- Changes.cpp - what would make a step shorter -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Auto/Search.h"
#include "Path.h"
#include "veeline/Schedule/Limits.h"

#include <algorithm>

using namespace veeline::schedule;

/// Gives all ranks the mean work. Returns why this changes nothing, else "".
static std::string balance(Problem &problem) {
  FlatProblem flat(problem);
  auto busy = [&](int stage) {
    double time = flat.busy(stage);
    for (int local = 0; local < problem.chunksPerStage(); ++local)
      time +=
          problem.microbatches *
          problem.chunks[problem.placement.globalChunk(stage, local)].recompute;
    return time;
  };
  auto work = [&](int stage) { return busy(stage) / problem.width(stage); };
  double total = 0, least = work(0), most = work(0);
  for (int stage = 0; stage < flat.stages(); ++stage) {
    total += busy(stage);
    least = std::min(least, work(stage));
    most = std::max(most, work(stage));
  }
  if (most <= least * (1 + 1e-9))
    return flat.stages() == 1       ? "there is one stage"
           : problem.widths.empty() ? "the stages are equally heavy"
                                    : "the ranks are equally heavy";
  if (least <= 0)
    return "a stage has no work";
  for (int k = 0; k < problem.numChunks(); ++k) {
    double factor =
        total / problem.ranks() / work(problem.placement.stageOf(k));
    problem.chunks[k].forward *= factor;
    problem.chunks[k].backwardInput *= factor;
    problem.chunks[k].backwardWeight *= factor;
    problem.chunks[k].backwardShared *= factor;
    problem.chunks[k].recompute *= factor;
  }
  return "";
}

/// Adds room for one more microbatch to the limits. If the schedule limits
/// memory by itself, adds it to what its stages hold. Returns why this changes
/// nothing, else "".
static std::string addMemory(const Simulation &simulation, bool searches,
                             Problem &problem) {
  bool isLimited = !problem.memoryLimits.empty();
  if (!isLimited && searches)
    return "no stage has a limit";
  if (!isLimited) {
    problem.memoryLimits.resize(problem.stages());
    for (int rank = 0; rank < problem.ranks(); ++rank) {
      std::int64_t &limit = problem.memoryLimits[problem.stageOfRank(rank)];
      limit = std::max(limit, simulation.stages[rank].peakMemory);
    }
  }
  bool isChanged = false;
  for (int s = 0; s < problem.stages(); ++s) {
    std::int64_t least = leastLimit(problem, s).limit;
    problem.memoryLimits[s] += least;
    isChanged |= least > 0;
  }
  return isChanged ? "" : "operations hold no memory";
}

static std::string quickenTransfers(Problem &problem) {
  bool isChanged = false;
  for (Edge &edge : problem.edges) {
    bool isFar = problem.placement.stageOf(edge.from) !=
                 problem.placement.stageOf(edge.to);
    isChanged |=
        isFar && (edge.forwardTransfer > 0 || edge.backwardTransfer > 0);
    edge.forwardTransfer /= 2;
    edge.backwardTransfer /= 2;
  }
  return isChanged ? "" : "transfers take no time";
}

static const char *describe(const Problem &problem, Change::Kind kind) {
  switch (kind) {
  case Change::Kind::Microbatch:
    return "one more microbatch";
  case Change::Kind::Memory:
    return problem.widths.empty()
               ? "memory for one more microbatch on every stage"
               : "memory for one more microbatch on every rank";
  case Change::Kind::Transfer:
    return "links twice as fast";
  case Change::Kind::Balance:
    return problem.widths.empty() ? "all stages equally heavy"
                                  : "all ranks equally heavy";
  case Change::Kind::Buffers:
    return "messages that neither block nor queue";
  }
  return "";
}

namespace {
class Changer {
public:
  Changer(const Problem &problem, const Schedule &schedule,
          const Simulation &simulation, const GeneratorOptions &options,
          Explanation &result)
      : problem(problem), schedule(schedule), simulation(simulation),
        options(options), result(result) {}

  void run();

private:
  std::string apply(Change::Kind kind, Problem &changed) const;
  /// How messages are transferred after a change.
  SimulationOptions transfers(Change::Kind kind) const {
    return kind == Change::Kind::Buffers ? SimulationOptions()
                                         : simulation.options;
  }
  std::optional<Simulation> solve(const Problem &changed,
                                  const SimulationOptions &transfers) const;
  void improve(const Problem &changed, const SimulationOptions &transfers,
               std::optional<Simulation> &best) const;
  double perMicrobatch(const Simulation &step, int microbatches) const {
    return step.value(result.objective) / microbatches;
  }
  Change tried(Change::Kind kind, double solved) const;

  const Problem &problem;
  const Schedule &schedule;
  const Simulation &simulation;
  const GeneratorOptions &options;
  Explanation &result;
};
} // namespace

/// Applies a change. Returns why it changes nothing, else "".
std::string Changer::apply(Change::Kind kind, Problem &changed) const {
  switch (kind) {
  case Change::Kind::Microbatch:
    ++changed.microbatches;
    return check(changed) ? "" : "there are too many";
  case Change::Kind::Memory:
    return addMemory(simulation, result.solver == "auto", changed);
  case Change::Kind::Transfer:
    return quickenTransfers(changed);
  case Change::Kind::Balance:
    return balance(changed);
  case Change::Kind::Buffers:
    break;
  }
  return "";
}

/// None if the schedule is not defined for the problem.
std::optional<Simulation>
Changer::solve(const Problem &changed,
               const SimulationOptions &transfers) const {
  Expected<Schedule> found = generate(result.solver, changed, options);
  if (!found)
    return std::nullopt;
  Expected<Simulation> step = simulate(changed, *found, transfers);
  if (!step)
    return std::nullopt;
  return std::move(*step);
}

/// Offers the present order for the changed problem.
void Changer::improve(const Problem &changed,
                      const SimulationOptions &transfers,
                      std::optional<Simulation> &best) const {
  Expected<Simulation> same = simulate(changed, schedule, transfers);
  if (same &&
      (!best || same->value(result.objective) < best->value(result.objective)))
    best = std::move(*same);
}

/// `solved` is the time of a microbatch that the solver now reaches for the
/// unchanged problem. It may have less time to search than it had for the
/// schedule.
Change Changer::tried(Change::Kind kind, double solved) const {
  Change change{kind, describe(problem, kind)};
  Problem changed = problem;
  change.reason = apply(kind, changed);
  if (!change.reason.empty())
    return change;
  bool sameOrder = kind != Change::Kind::Microbatch;
  std::optional<Simulation> then = solve(changed, transfers(kind));
  if (sameOrder)
    improve(changed, transfers(kind), then);
  if (!then) {
    change.reason = result.solver + " has no schedule for it";
    return change;
  }
  double now = perMicrobatch(simulation, problem.microbatches);
  now = sameOrder ? std::min(now, solved) : solved;
  change.makespan = then->makespan;
  change.bubbleMakespan = then->bubbleMakespan;
  change.bubbleSpan = then->bubbleSpan;
  if (now > 0)
    change.gain = 1 - perMicrobatch(*then, changed.microbatches) / now;
  return change;
}

void Changer::run() {
  std::optional<Simulation> now = solve(problem, simulation.options);
  double solved = perMicrobatch(now ? *now : simulation, problem.microbatches);
  for (Change::Kind kind : {Change::Kind::Microbatch, Change::Kind::Memory,
                            Change::Kind::Transfer, Change::Kind::Balance})
    result.changes.push_back(tried(kind, solved));
  if (simulation.options != SimulationOptions())
    result.changes.push_back(tried(Change::Kind::Buffers, solved));
  auto rank = [](const Change &change) {
    return std::pair(!change.reason.empty(), -change.gain);
  };
  std::stable_sort(
      result.changes.begin(), result.changes.end(),
      [&](const Change &a, const Change &b) { return rank(a) < rank(b); });
}

void veeline::schedule::addChanges(const Problem &problem,
                                   const Schedule &schedule,
                                   const Simulation &simulation,
                                   const GeneratorOptions &options,
                                   Explanation &result) {
  result.solver = findGenerator(schedule.name) ? schedule.name : "auto";
  Changer(problem, schedule, simulation, options, result).run();
}
