//===- RecomputeSearch.cpp - the least time within limits -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecomputeSearch.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Schedule/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Simulator.h"

using namespace mlir;
using namespace veeline;

/// Plans of simulated combinations, plans that correct estimates, and plans
/// that take back too much.
static constexpr int maxExactPlans = 512, maxCorrections = 12, maxBacksteps = 8;
/// Into how many shares the steps are divided for who makes room otherwise.
static constexpr int numShares = 3;
/// Plans of better combinations beside the one that was found.
static constexpr int maxImprovements = 24;

RecomputeSearch::RecomputeSearch(MemoryTrial &trial, ArrayRef<Recompute> asked,
                                 ArrayRef<int64_t> limits,
                                 const MemoryAttempt &start,
                                 const SearchEffort &effort, AttemptFn attempt)
    : trial(trial), asked(asked), limits(limits), start(start), effort(effort),
      attempt(attempt), points(asked.size()) {
  for (const auto &ops : start.order.stages)
    for (const schedule::Op &op : ops)
      isFused |= op.kind == schedule::OpKind::Backward;
}

//===----------------------------------------------------------------------===//
// Points and combinations of them
//===----------------------------------------------------------------------===//

/// Gives those of its chunks a choice that are left open.
LogicalResult RecomputeSearch::addRank(int number) {
  Rank &rank = ranks.emplace_back(Rank{number, {}, {}});
  const schedule::Placement &placement = start.problem->placement;
  for (int local = 0; local != placement.chunksPerStage(); ++local) {
    int chunk = placement.globalChunk(number, local);
    if (asked[chunk].kind != RecomputeKind::Auto)
      continue;
    auto found = findRecomputePoints(trial, chunk, isFused, effort.maxCuts,
                                     effort.withNamed);
    if (failed(found))
      return failure();
    points[chunk] = std::move(*found);
    rank.chunks.push_back(chunk);
  }
  return success();
}

LogicalResult RecomputeSearch::findPoints() {
  for (auto [chunk, policy] : llvm::enumerate(start.policies)) {
    auto variant = trial.getVariant(chunk, policy);
    if (failed(variant))
      return failure();
    points[chunk] = {*variant};
  }
  for (auto [number, limit] : llvm::enumerate(limits))
    if ((effort.allRanks || start.arenas[number] > limit) &&
        failed(addRank(number)))
      return failure();
  std::vector<std::pair<int, Recompute>> all;
  for (auto [chunk, own] : llvm::enumerate(points))
    for (const ChunkVariant *point : own)
      all.push_back({static_cast<int>(chunk), point->policy});
  return trial.measure(all);
}

std::vector<Recompute>
RecomputeSearch::getPolicies(const Choice &choice) const {
  std::vector<Recompute> policies;
  for (int chunk = 0, e = points.size(); chunk != e; ++chunk)
    policies.push_back(getPoint(choice, chunk).policy);
  return policies;
}

size_t RecomputeSearch::countCombinations(ArrayRef<int> chunks) const {
  size_t count = 1;
  for (int chunk : chunks)
    count = std::min(count * points[chunk].size(), size_t(1) << 32);
  return count;
}

/// The next combination of the points of `chunks`; false after the last one.
bool RecomputeSearch::advance(ArrayRef<int> chunks, Choice &choice) const {
  for (int chunk : chunks) {
    if (++choice[chunk] != points[chunk].size())
      return true;
    choice[chunk] = 0;
  }
  return false;
}

/// What a rank holds at most, workspaces included; or what its arena holds at
/// least, beside what lasts.
int64_t RecomputeSearch::estimateHeld(const schedule::Schedule &order, int rank,
                                      const Choice &choice,
                                      bool isBound) const {
  int64_t held = 0, peak = 0;
  for (const schedule::Op &op : order.stages[rank]) {
    const ChunkVariant &point = getPoint(choice, op.chunk);
    auto kind = static_cast<size_t>(pipe::getFunctionKind(op.kind));
    int64_t change = (isBound ? point.own : point.chunk).memory(op.kind);
    int64_t workspace = (isBound ? point.livePeaks : point.workspaces)[kind];
    peak = std::max(peak, held + std::max<int64_t>(change, 0) + workspace);
    held += change;
  }
  return peak;
}

//===----------------------------------------------------------------------===//
// All combinations
//===----------------------------------------------------------------------===//

/// The step as the schedule predicts it; none where it has no order, or where
/// an arena is certain to be too large.
std::optional<double> RecomputeSearch::predict(const Choice &choice) const {
  schedule::Problem problem = *start.problem;
  for (auto [chunk, costs] : llvm::enumerate(problem.chunks))
    costs = getPoint(choice, chunk).chunk;
  const std::string &name = trial.getOptions().schedule;
  schedule::Schedule order = start.order;
  if (!schedule::scheduleFilePath(name)) {
    auto generated = schedule::generate(name, problem);
    if (!generated)
      return std::nullopt;
    order = std::move(*generated);
  }
  for (auto [rank, limit] : llvm::enumerate(limits))
    if (start.lasting[rank] + estimateHeld(order, rank, choice, true) > limit)
      return std::nullopt;
  auto simulation = schedule::simulate(problem, order);
  if (!simulation)
    return std::nullopt;
  return simulation->makespan;
}

RecomputeSearch::Answer RecomputeSearch::runExactly() {
  std::vector<int> chunks;
  for (const Rank &rank : ranks)
    llvm::append_range(chunks, rank.chunks);
  std::vector<std::pair<double, Choice>> candidates;
  Choice choice(points.size(), 0);
  do
    if (std::optional<double> makespan = predict(choice))
      candidates.push_back({*makespan, choice});
  while (advance(chunks, choice));
  llvm::stable_sort(candidates, llvm::less_first());
  int plans = 0;
  for (const auto &[makespan, candidate] : candidates) {
    if (plans++ == maxExactPlans)
      break;
    auto result = attempt(getPolicies(candidate));
    if (failed(result))
      return failure();
    if (result->fits(limits))
      return std::optional(std::move(*result));
  }
  return std::optional<MemoryAttempt>();
}

//===----------------------------------------------------------------------===//
// Rank by rank
//===----------------------------------------------------------------------===//

double RecomputeSearch::getRankWork(const Rank &rank,
                                    const Choice &choice) const {
  double work = 0;
  for (int chunk : rank.chunks)
    work += getWork(getPoint(choice, chunk).chunk, isFused);
  return work;
}

/// All combinations of the rank's chunks.
std::vector<RecomputeSearch::Step>
RecomputeSearch::enumerateSteps(const Rank &rank,
                                const schedule::Schedule &order) const {
  std::vector<Step> steps;
  Choice choice(points.size(), 0);
  do
    steps.push_back({choice, getRankWork(rank, choice),
                     estimateHeld(order, rank.number, choice, false)});
  while (advance(rank.chunks, choice));
  return steps;
}

/// From the least time on, each time the chunk and the point that free most for
/// the time that they add.
std::vector<RecomputeSearch::Step>
RecomputeSearch::followRatios(const Rank &rank,
                              const schedule::Schedule &order) const {
  Choice choice(points.size(), 0);
  auto describe = [&](const Choice &made) -> Step {
    return {made, getRankWork(rank, made),
            estimateHeld(order, rank.number, made, false)};
  };
  std::vector<Step> steps = {describe(choice)};
  while (true) {
    std::optional<Step> best;
    double bestRatio = 0;
    for (int chunk : rank.chunks)
      for (size_t point = steps.back().choice[chunk] + 1;
           point < points[chunk].size(); ++point) {
        Choice next = steps.back().choice;
        next[chunk] = point;
        Step step = describe(next);
        double freed = static_cast<double>(steps.back().held - step.held);
        double ratio = freed / std::max(step.work - steps.back().work, 1e-3);
        if (ratio <= bestRatio)
          continue;
        bestRatio = ratio;
        best = std::move(step);
      }
    if (!best)
      return steps;
    steps.push_back(std::move(*best));
  }
}

/// Ascending by work, descending by bytes: no one is both slower and larger
/// than another.
std::vector<RecomputeSearch::Step>
RecomputeSearch::makeSteps(const Rank &rank,
                           const schedule::Schedule &order) const {
  std::vector<Step> all = countCombinations(rank.chunks) <= effort.maxOfRank
                              ? enumerateSteps(rank, order)
                              : followRatios(rank, order);
  llvm::stable_sort(all, [](const Step &a, const Step &b) {
    return std::pair(a.work, a.held) < std::pair(b.work, b.held);
  });
  std::vector<Step> steps;
  for (Step &step : all)
    if (steps.empty() || step.held < steps.back().held)
      steps.push_back(std::move(step));
  return steps;
}

RecomputeSearch::Choice RecomputeSearch::getCurrent() const {
  Choice choice(points.size(), 0);
  for (const Rank &rank : ranks)
    for (int chunk : rank.chunks)
      choice[chunk] = rank.steps[rank.current].choice[chunk];
  return choice;
}

/// To the next step that fits by what the plan of the current one took; false
/// where there is none.
bool RecomputeSearch::moveOn(Rank &rank, const MemoryAttempt &refused) {
  int64_t arena = refused.arenas[rank.number], limit = limits[rank.number];
  rank.gap = arena - rank.steps[rank.current].held;
  if (arena <= limit)
    return true;
  if (rank.current + 1 == rank.steps.size())
    return false;
  ++rank.current;
  while (rank.current + 1 < rank.steps.size() &&
         rank.steps[rank.current].held + rank.gap > limit)
    ++rank.current;
  return true;
}

RecomputeSearch::Answer RecomputeSearch::runBySteps() {
  for (Rank &rank : ranks) {
    rank.steps = makeSteps(rank, start.order);
    rank.gap =
        start.arenas[rank.number] -
        estimateHeld(start.order, rank.number, Choice(points.size(), 0), false);
    while (rank.current + 1 < rank.steps.size() &&
           rank.steps[rank.current].held + rank.gap > limits[rank.number])
      ++rank.current;
  }
  for (int i = 0; i != maxCorrections; ++i) {
    auto result = attempt(getPolicies(getCurrent()));
    if (failed(result))
      return failure();
    if (result->fits(limits)) {
      if (failed(stepBack(*result)) || failed(improve(*result, getCurrent())))
        return failure();
      return std::optional(std::move(*result));
    }
    bool hasNext = true;
    for (Rank &rank : ranks)
      hasNext &= moveOn(rank, *result);
    if (!hasNext)
      break;
  }
  return std::optional<MemoryAttempt>();
}

/// Back along each rank's steps as long as plans fit and take no longer.
LogicalResult RecomputeSearch::stepBack(MemoryAttempt &best) {
  int left = maxBacksteps;
  for (Rank &rank : ranks) {
    size_t chosen = rank.current;
    for (size_t step = chosen; step-- > 0 && left > 0;) {
      rank.current = step;
      --left;
      auto result = attempt(getPolicies(getCurrent()));
      if (failed(result))
        return failure();
      if (!result->fits(limits) || result->makespan > best.makespan)
        break;
      best = std::move(*result);
      chosen = step;
    }
    rank.current = chosen;
  }
  return success();
}

/// All choices that differ in one chunk, or in two of one rank.
std::vector<RecomputeSearch::Choice>
RecomputeSearch::getNeighbours(const Choice &choice) const {
  std::vector<Choice> neighbours;
  auto change = [&](const Choice &from, int chunk, auto use) {
    for (size_t point = 0; point != points[chunk].size(); ++point) {
      Choice changed = from;
      if (std::exchange(changed[chunk], point) != point)
        use(changed);
    }
  };
  auto add = [&](const Choice &changed) { neighbours.push_back(changed); };
  for (const Rank &rank : ranks)
    for (auto [i, chunk] : llvm::enumerate(rank.chunks))
      change(choice, chunk, [&](const Choice &changed) {
        add(changed);
        for (int other : ArrayRef(rank.chunks).drop_front(i + 1))
          change(changed, other, add);
      });
  return neighbours;
}

/// What a rank does in the least time need not make the shortest step: how its
/// work is shared by its chunks, and by B and W, counts as well.
LogicalResult RecomputeSearch::improve(MemoryAttempt &best, Choice choice) {
  size_t numOps = 0;
  for (const auto &ops : start.order.stages)
    numOps += ops.size();
  for (int left = maxImprovements; left > 0;) {
    std::vector<Choice> neighbours = getNeighbours(choice);
    if (neighbours.size() * numOps > effort.maxExactOps)
      return success();
    std::vector<std::pair<double, const Choice *>> shorter;
    for (const Choice &neighbour : neighbours)
      if (std::optional<double> makespan = predict(neighbour);
          makespan && *makespan < best.makespan)
        shorter.push_back({*makespan, &neighbour});
    llvm::stable_sort(shorter, llvm::less_first());
    bool isBetter = false;
    for (const auto &[makespan, neighbour] : shorter) {
      if (isBetter || left-- == 0)
        break;
      auto result = attempt(getPolicies(*neighbour));
      if (failed(result))
        return failure();
      isBetter = result->fits(limits);
      if (!isBetter)
        continue;
      best = std::move(*result);
      choice = *neighbour;
    }
    if (!isBetter)
      return success();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

RecomputeSearch::Answer RecomputeSearch::run() {
  if (failed(findPoints()))
    return failure();
  std::vector<int> chunks;
  size_t numOps = 0;
  for (const Rank &rank : ranks)
    llvm::append_range(chunks, rank.chunks);
  for (const auto &ops : start.order.stages)
    numOps += ops.size();
  size_t count = countCombinations(chunks);
  if (count <= effort.maxExact && count * numOps <= effort.maxExactOps) {
    auto exact = runExactly();
    if (failed(exact) || *exact)
      return exact;
  }
  return runBySteps();
}

std::vector<std::vector<Recompute>>
RecomputeSearch::getSteps(ArrayRef<schedule::Schedule> orders) const {
  std::vector<Choice> choices(numShares + 1, Choice(points.size(), 0));
  for (const Rank &rank : ranks) {
    std::vector<Step> steps = makeSteps(rank, orders[rank.number]);
    // What lasts is certain; the first steps cannot do without more room.
    int64_t room = limits[rank.number] - start.lasting[rank.number];
    size_t last = steps.size() - 1, first = 0;
    while (first != last && steps[first].held > room)
      ++first;
    for (int share = 0; share <= numShares; ++share)
      for (int chunk : rank.chunks)
        choices[share][chunk] =
            steps[first + (last - first) * share / numShares].choice[chunk];
  }
  std::vector<std::vector<Recompute>> result;
  for (const Choice &choice : choices)
    result.push_back(getPolicies(choice));
  return result;
}
