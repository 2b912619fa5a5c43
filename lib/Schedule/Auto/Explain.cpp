//===- Explain.cpp - why a schedule takes its time ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Execution.h"
#include "Search.h"
#include "veeline/Schedule/Auto.h"
#include "veeline/Schedule/Bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline::schedule;

namespace {
/// Follows the longest path back from an operation.
class PathFinder {
public:
  PathFinder(const Problem &problem, const Schedule &schedule,
             const Simulation &simulation, const OpIndex &index)
      : problem(problem), schedule(schedule), simulation(simulation),
        index(index), flow(problem) {}

  std::vector<CriticalStep> pathTo(Position position);

private:
  void offer(int stage, int step, double transfer);
  void offerBackwards(const Op &op);
  void offerInputs(const Op &op);

  const Problem &problem;
  const Schedule &schedule;
  const Simulation &simulation;
  const OpIndex &index;
  Flow flow;
  /// What the operation at hand waits for longest.
  Position found{-1, -1};
  double foundArrival = 0, foundTransfer = 0;
};
} // namespace

void PathFinder::offer(int stage, int step, double transfer) {
  double arrival = simulation.end[stage][step] + transfer;
  if (found.stage >= 0 && arrival <= foundArrival)
    return;
  found = {stage, step};
  foundArrival = arrival;
  foundTransfer = transfer;
}

void PathFinder::offerBackwards(const Op &op) {
  for (const Link &link : flow.backwardInputs[op.chunk])
    offer(problem.placement.stageOf(link.chunk),
          index.backwardInput(link.chunk, op.microbatch), link.transfer);
}

void PathFinder::offerInputs(const Op &op) {
  if (op.kind == OpKind::Forward) {
    for (const Link &link : flow.forwardInputs[op.chunk])
      offer(problem.placement.stageOf(link.chunk),
            index.forward(link.chunk, op.microbatch), link.transfer);
  } else if (op.kind != OpKind::BackwardWeight ||
             !problem.chunks[op.chunk].hasBackwardInput) {
    offerBackwards(op);
  }
}

std::vector<CriticalStep> PathFinder::pathTo(Position position) {
  std::vector<CriticalStep> path;
  while (position.stage >= 0) {
    auto [stage, step] = position;
    const Op &op = schedule.stages[stage][step];
    double start = simulation.start[stage][step];
    found = {-1, -1};
    // Of equal ones, the stage's own comes first.
    if (step > 0)
      offer(stage, step - 1, 0);
    offerInputs(op);
    bool starts = start <= 0 || path.size() > simulation.end[stage].size() *
                                                  simulation.end.size();
    path.push_back({stage, step, op, start, simulation.end[stage][step],
                    starts || found.stage < 0 ? 0 : foundTransfer});
    position = starts ? Position{-1, -1} : found;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

static double valueOf(const Simulation &simulation, Objective objective) {
  if (objective == Objective::Makespan)
    return simulation.makespan;
  double longest = 0;
  for (const StageStatistics &stage : simulation.stages)
    longest = std::max(longest, stage.lastEnd - stage.firstStart);
  return longest;
}

/// The last operation of the stage that decides.
static Position decisive(const Simulation &simulation, Objective objective) {
  int worst = 0;
  double latest = -1;
  for (int s = 0, e = simulation.stages.size(); s < e; ++s) {
    const StageStatistics &stage = simulation.stages[s];
    double value =
        stage.lastEnd - (objective == Objective::Span ? stage.firstStart : 0);
    if (value > latest) {
      latest = value;
      worst = s;
    }
  }
  return {worst, static_cast<int>(simulation.end[worst].size()) - 1};
}

static void addShares(const Problem &problem, Explanation &result) {
  if (result.path.empty() || result.path.back().end <= 0)
    return;
  double total = result.path.back().end;
  for (const CriticalStep &step : result.path) {
    double cost = problem.chunks[step.op.chunk].cost(step.op.kind);
    double &share = step.op.kind == OpKind::Forward ? result.forwardShare
                    : step.op.kind == OpKind::BackwardWeight
                        ? result.weightShare
                        : result.backwardShare;
    share += cost / total;
    result.transferShare += step.transfer / total;
  }
}

/// Makes all stages as heavy as the mean. False where they are, or a stage has
/// no work to scale.
static bool balance(Problem &problem) {
  FlatProblem flat(problem);
  double total = 0, least = flat.busy(0), most = flat.busy(0);
  for (int stage = 0; stage < flat.stages(); ++stage) {
    total += flat.busy(stage);
    least = std::min(least, flat.busy(stage));
    most = std::max(most, flat.busy(stage));
  }
  if (least <= 0 || most <= least * (1 + 1e-9))
    return false;
  for (int k = 0; k < problem.numChunks(); ++k) {
    double factor =
        total / flat.stages() / flat.busy(problem.placement.stageOf(k));
    problem.chunks[k].forward *= factor;
    problem.chunks[k].backwardInput *= factor;
    problem.chunks[k].backwardWeight *= factor;
  }
  return true;
}

/// Applies a change. False where it changes nothing.
static bool applyChange(Change::Kind kind, Problem &problem) {
  switch (kind) {
  case Change::Kind::Microbatch:
    ++problem.microbatches;
    return static_cast<bool>(check(problem));
  case Change::Kind::Memory: {
    FlatProblem flat(problem);
    bool changed = false;
    for (std::size_t s = 0; s < problem.memoryLimits.size(); ++s) {
      problem.memoryLimits[s] += leastLimit(flat, s);
      changed |= leastLimit(flat, s) > 0;
    }
    return changed;
  }
  case Change::Kind::Transfer: {
    bool changed = false;
    for (Edge &edge : problem.edges) {
      changed |= edge.forwardTransfer > 0 || edge.backwardTransfer > 0;
      edge.forwardTransfer /= 2;
      edge.backwardTransfer /= 2;
    }
    return changed;
  }
  case Change::Kind::Balance:
    return balance(problem);
  }
  return false;
}

static const char *describe(Change::Kind kind) {
  switch (kind) {
  case Change::Kind::Microbatch:
    return "one more microbatch";
  case Change::Kind::Memory:
    return "memory for one more microbatch on every stage";
  case Change::Kind::Transfer:
    return "links twice as fast";
  case Change::Kind::Balance:
    return "all stages equally heavy";
  }
  return "";
}

/// Solves the problem again; none where the schedule is not defined for it.
static std::optional<Simulation> solve(const std::string &name,
                                       const Problem &problem,
                                       const GeneratorOptions &options) {
  Expected<Schedule> schedule = generate(name, problem, options);
  if (!schedule)
    return std::nullopt;
  Expected<Simulation> simulation = simulate(problem, *schedule);
  if (!simulation)
    return std::nullopt;
  return std::move(*simulation);
}

static void addChanges(const Problem &problem, const std::string &name,
                       const GeneratorOptions &options, Explanation &result) {
  std::optional<Simulation> now = solve(name, problem, options);
  if (!now)
    return;
  double value = valueOf(*now, result.objective) / problem.microbatches;
  for (Change::Kind kind : {Change::Kind::Microbatch, Change::Kind::Memory,
                            Change::Kind::Transfer, Change::Kind::Balance}) {
    Problem changed = problem;
    if (value <= 0 || !applyChange(kind, changed))
      continue;
    std::optional<Simulation> then = solve(name, changed, options);
    if (!then)
      continue;
    double changedValue =
        valueOf(*then, result.objective) / changed.microbatches;
    result.changes.push_back({kind, describe(kind), then->makespan,
                              then->bubbleMakespan, then->bubbleSpan,
                              1 - changedValue / value});
  }
  std::stable_sort(
      result.changes.begin(), result.changes.end(),
      [](const Change &a, const Change &b) { return a.gain > b.gain; });
}

Expected<Explanation>
veeline::schedule::explain(const Problem &problem, const Schedule &schedule,
                           const GeneratorOptions &options) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Expected<Simulation> simulation = simulate(problem, schedule);
  if (!simulation)
    return simulation.takeError();
  Explanation result{};
  result.objective = options.objective;
  result.value = valueOf(*simulation, options.objective);
  Bounds bounds = lowerBounds(problem);
  result.lowerBound = options.objective == Objective::Makespan
                          ? bounds.makespan.time
                          : bounds.span.time;
  result.gap = result.lowerBound > 0
                   ? (result.value - result.lowerBound) / result.lowerBound
                   : 0;
  result.path = PathFinder(problem, schedule, *simulation, *index)
                    .pathTo(decisive(*simulation, options.objective));
  addShares(problem, result);
  GeneratorOptions tenth = options;
  tenth.searchSeconds /= 10;
  bool known = static_cast<bool>(findGenerator(schedule.name));
  addChanges(problem, known ? schedule.name : "auto", tenth, result);
  return result;
}

std::string Explanation::str() const {
  auto format = [](const char *pattern, auto... values) {
    char text[256];
    std::snprintf(text, sizeof text, pattern, values...);
    return std::string(text);
  };
  std::string text =
      format("critical path: %zu operations, %.1f%% F, %.1f%% B, %.1f%% "
             "W, %.1f%% transfers\n",
             path.size(), 100 * forwardShare, 100 * backwardShare,
             100 * weightShare, 100 * transferShare);
  for (const Change &change : changes)
    text += format("  %s: %.2f%% %s a microbatch, bubble %.4f\n",
                   change.what.c_str(), 100 * std::abs(change.gain),
                   change.gain >= 0 ? "less" : "more",
                   objective == Objective::Makespan ? change.bubbleMakespan
                                                    : change.bubbleSpan);
  return text;
}
