//===- RecomputeSearch.cpp - recomputation within memory limits -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecomputeSearch.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Limits.h"
#include "veeline/Schedule/Recompute.h"
#include "veeline/Schedule/Simulator.h"

#include <cmath>
#include <tuple>

using namespace mlir;
using namespace veeline;

/// Limits on the number of plans: for simulated combinations, to correct
/// estimates, and to improve a combination that fits.
static constexpr int maxExactPlans = 512, maxCorrections = 24,
                     maxImprovements = 24;
/// How often an order is generated again under tighter limits.
static constexpr int maxTightenings = 4;
/// The number of parts into which `getSteps` divides the steps of a stage.
static constexpr int numShares = 3;

RecomputeSearch::RecomputeSearch(MemoryTrial &trial, ArrayRef<Recompute> asked,
                                 ArrayRef<int64_t> limits,
                                 const MemoryAttempt &start,
                                 const SearchEffort &effort, AttemptFn attempt)
    : trial(trial), asked(asked), limits(limits), start(start), effort(effort),
      attempt(attempt), points(asked.size()) {
  for (const auto &ops : start.order.stages) {
    numOps += ops.size();
    for (const schedule::Op &op : ops)
      isFused |= op.kind == schedule::OpKind::Backward;
  }
  auto known = schedule::findGenerator(trial.getOptions().schedule);
  searches = known && (*known)->searches;
  neverSplits =
      !start.order.splitsBackward() && !(known && (*known)->splitsBackward);
}

//===----------------------------------------------------------------------===//
// Points and combinations of them
//===----------------------------------------------------------------------===//

/// Finds the points of those chunks of the stage whose policy is Auto.
LogicalResult RecomputeSearch::addStage(int number) {
  Stage &stage = stages.emplace_back(Stage{number, {}});
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
    stage.chunks.push_back(chunk);
    openChunks.push_back(chunk);
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
    if ((effort.allStages || start.arenas[number] > limit) &&
        failed(addStage(number)))
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

/// Goes to the next combination of the points of `chunks`. Returns false after
/// the last one.
bool RecomputeSearch::advance(ArrayRef<int> chunks, Choice &choice) const {
  for (int chunk : chunks) {
    if (++choice[chunk] != points[chunk].size())
      return true;
    choice[chunk] = 0;
  }
  return false;
}

/// Estimates the most bytes that a rank of the stage holds, workspaces
/// included. With `isBound`, returns a lower bound of its arena without the
/// part that lasts throughout the step. If the stage has several ranks, returns
/// the largest value.
int64_t RecomputeSearch::estimateHeld(const schedule::Schedule &order,
                                      int stage, const Choice &choice,
                                      bool isBound) const {
  const schedule::Problem &problem = *start.problem;
  int first = problem.firstRankOf(stage);
  std::vector<bool> runsRecompute(problem.numChunks());
  for (int rank = first, e = first + problem.width(stage); rank != e; ++rank)
    for (const schedule::Op &op : order.stages[rank])
      if (op.kind == schedule::OpKind::Recompute)
        runsRecompute[op.chunk] = true;
  int64_t peak = 0;
  for (int rank = first, e = first + problem.width(stage); rank != e; ++rank) {
    auto getChange = [&](const schedule::Op &op) {
      const ChunkVariant &point = getPoint(choice, op.chunk);
      const schedule::Chunk &chunk = isBound ? point.own : point.chunk;
      // The order may have been made for points without R.
      return (runsRecompute[op.chunk] ? chunk : chunk.withRecomputeInside())
          .memory(op.kind);
    };
    // Memory that a late W releases has been held since the step before.
    int64_t held = 0;
    for (const schedule::Op &op : order.stages[rank])
      held -= op.late ? getChange(op) : 0;
    for (const schedule::Op &op : order.stages[rank]) {
      const ChunkVariant &point = getPoint(choice, op.chunk);
      auto kind = static_cast<size_t>(pipe::getFunctionKind(op.kind));
      int64_t change = getChange(op);
      int64_t workspace = (isBound ? point.livePeaks : point.workspaces)[kind];
      peak = std::max(peak, held + std::max<int64_t>(change, 0) + workspace);
      held += change;
    }
  }
  return peak;
}

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

/// The order of `start`. R is added or removed to match the chunks of the
/// problem.
std::optional<schedule::Schedule>
RecomputeSearch::fitToChunks(const schedule::Problem &problem) const {
  if (!trial.getOptions().recomputeAhead)
    return start.order;
  schedule::Schedule order = schedule::withoutMissing(problem, start.order);
  if (!schedule::lacksRecompute(problem, order))
    return order;
  auto added = schedule::addRecompute(problem, std::move(order),
                                      trial.getOptions().objective);
  return added ? std::optional(std::move(*added)) : std::nullopt;
}

/// The order that the schedule generates for `problem`, or none if it cannot.
std::optional<schedule::Schedule>
RecomputeSearch::makeOrder(const schedule::Problem &problem) const {
  const std::string &name = trial.getOptions().schedule;
  if (schedule::scheduleFilePath(name))
    return fitToChunks(problem);
  schedule::GeneratorOptions options;
  options.objective = trial.getOptions().objective;
  options.maySlip = trial.getOptions().mayWeightsSlip();
  // Many orders are made to choose one. Only the chosen one is searched for
  // long.
  options.estimates = true;
  options.searchSeconds = 0.004;
  auto generated = schedule::generate(name, problem, options);
  if (!generated)
    return std::nullopt;
  return std::move(*generated);
}

/// The problem with the points of a choice. With `isBound`, chunks hold only
/// what is certain.
schedule::Problem RecomputeSearch::makeProblem(const Choice &choice,
                                               bool isBound) const {
  schedule::Problem problem = *start.problem;
  for (auto [chunk, costs] : llvm::enumerate(problem.chunks)) {
    const ChunkVariant &point = getPoint(choice, chunk);
    costs = isBound ? point.own : point.chunk;
  }
  return problem;
}

/// A lower bound on the step, up to rounding, of all orders whose arenas fit.
/// Arenas are taken to be larger than what is held by at least `gaps`. None if
/// no order fits.
std::optional<double> RecomputeSearch::getLeastStep(const Choice &choice,
                                                    ArrayRef<int64_t> gaps,
                                                    bool isBound) const {
  schedule::Problem problem = makeProblem(choice, isBound);
  for (auto [limit, gap] : llvm::zip_equal(limits, gaps)) {
    if (limit < gap)
      return std::nullopt;
    problem.memoryLimits.push_back(limit - gap);
  }
  if (!schedule::checkLimits(problem))
    return std::nullopt;
  double time = schedule::lowerBound(problem, trial.getOptions().objective,
                                     {.fusedBackward = neverSplits})
                    .time;
  if (std::isinf(time))
    return std::nullopt;
  return time * (1 - 1e-9);
}

/// Whether an arena is certainly too large.
bool RecomputeSearch::isTooLarge(const schedule::Schedule &order,
                                 const Choice &choice) const {
  for (auto [stage, limit] : llvm::enumerate(limits))
    if (start.lasting[stage] + estimateHeld(order, stage, choice, true) > limit)
      return true;
  return false;
}

std::optional<RecomputeSearch::MadeOrder>
RecomputeSearch::describeOrder(const schedule::Problem &problem,
                               const schedule::Schedule &order,
                               const Choice &choice) const {
  auto simulation = schedule::simulate(problem, order);
  if (!simulation)
    return std::nullopt;
  MadeOrder result{simulation->value(trial.getOptions().objective),
                   getPeaks(problem, *simulation),
                   {}};
  for (int stage = 0, e = problem.stages(); stage != e; ++stage)
    result.held.push_back(estimateHeld(order, stage, choice, false));
  return result;
}

/// Sets the number of orders that may be made to compare choices, or to change
/// one.
void RecomputeSearch::allowOrders() {
  ordersLeft = effort.maxSearchedOps / numOps + 1;
}

/// The order that the schedule generates for a choice, within the limits of
/// `problem`. None if there is no order, or if no more orders may be made.
const std::optional<RecomputeSearch::MadeOrder> &
RecomputeSearch::madeFor(const schedule::Problem &problem,
                         const Choice &choice) {
  static const std::optional<MadeOrder> none;
  auto found = made.find({choice, problem.memoryLimits});
  if (found != made.end())
    return found->second;
  if (searches && ordersLeft == 0)
    return none;
  ordersLeft -= searches;
  std::optional<MadeOrder> &entry = made[{choice, problem.memoryLimits}];
  if (auto order = makeOrder(problem))
    entry = describeOrder(problem, *order, choice);
  return entry;
}

/// Predicts the step of a choice. Arenas are estimated to be `gaps` larger than
/// what is held. If they do not fit in the schedule's own order, it is
/// generated again under limits. If the schedule searches, the order of `start`
/// is used as its own order.
std::optional<RecomputeSearch::Prediction>
RecomputeSearch::predict(const Choice &choice, ArrayRef<int64_t> gaps) {
  schedule::Problem problem = makeProblem(choice);
  std::optional<MadeOrder> order;
  if (searches)
    if (auto fitted = fitToChunks(problem))
      order = describeOrder(problem, *fitted, choice);
  for (int i = 0; i != maxTightenings; ++i) {
    if (!order)
      order = madeFor(problem, choice);
    if (!order)
      return std::nullopt;
    bool fits = true;
    std::vector<int64_t> rooms;
    for (auto [held, gap, limit] : llvm::zip_equal(order->held, gaps, limits)) {
      rooms.push_back(limit - held - gap);
      fits &= rooms.back() >= 0;
    }
    if (fits)
      return Prediction{order->step, choice, problem.memoryLimits};
    if (!effort.canTighten)
      return std::nullopt;
    bool isFirst = problem.memoryLimits.empty();
    problem.memoryLimits.resize(rooms.size());
    for (auto [bound, held, room] :
         llvm::zip_equal(problem.memoryLimits, order->peaks, rooms))
      if (isFirst || room < 0)
        bound = std::max<int64_t>(0, (isFirst ? held : std::min(bound, held)) +
                                         room);
    order.reset();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// All combinations
//===----------------------------------------------------------------------===//

/// Takes combinations in ascending order of their step. Until an order is made,
/// the step is a lower bound.
RecomputeSearch::Answer RecomputeSearch::runExactly() {
  struct Candidate {
    double step;
    bool isExact;
    size_t number;
    Choice choice;
  };
  auto isLater = [](const Candidate &a, const Candidate &b) {
    return std::tie(a.step, a.isExact, a.number) >
           std::tie(b.step, b.isExact, b.number);
  };
  std::vector<Candidate> heap;
  for (Choice &choice : makeAllChoices())
    if (auto least = getLeastStep(choice, start.lasting, /*isBound=*/true))
      heap.push_back({*least, false, heap.size(), std::move(choice)});
  std::make_heap(heap.begin(), heap.end(), isLater);
  for (int plans = 0; plans != maxExactPlans && !heap.empty();) {
    std::pop_heap(heap.begin(), heap.end(), isLater);
    Candidate next = std::move(heap.back());
    heap.pop_back();
    if (!next.isExact) {
      schedule::Problem problem = makeProblem(next.choice);
      auto order = makeOrder(problem);
      if (!order || isTooLarge(*order, next.choice))
        continue;
      auto described = describeOrder(problem, *order, next.choice);
      if (!described)
        continue;
      made[{next.choice, {}}] = described;
      heap.push_back(
          {described->step, true, next.number, std::move(next.choice)});
      std::push_heap(heap.begin(), heap.end(), isLater);
      continue;
    }
    ++plans;
    auto result = attempt(getPolicies(next.choice), {});
    if (failed(result))
      return failure();
    if (result->fits(limits))
      return result;
  }
  return std::optional<MemoryAttempt>();
}

//===----------------------------------------------------------------------===//
// Combinations of stages' choices
//===----------------------------------------------------------------------===//

/// The time of the stage for one microbatch. If it has several ranks, these
/// take turns.
double RecomputeSearch::getStageWork(const Stage &stage,
                                     const Choice &choice) const {
  const schedule::Placement &placement = start.problem->placement;
  double work = 0;
  for (int local = 0; local != placement.chunksPerStage(); ++local)
    work += getWork(
        getPoint(choice, placement.globalChunk(stage.number, local)).chunk,
        isFused);
  return work / start.problem->width(stage.number);
}

/// All combinations of the stage's chunks.
std::vector<RecomputeSearch::Step>
RecomputeSearch::enumerateSteps(const Stage &stage,
                                const schedule::Schedule &order) const {
  std::vector<Step> steps;
  Choice choice(points.size(), 0);
  do
    steps.push_back({choice, getStageWork(stage, choice),
                     estimateHeld(order, stage.number, choice, false)});
  while (advance(stage.chunks, choice));
  return steps;
}

/// Begins with the least time. Each step then changes the chunk and the point
/// that free the most bytes for the time that they add.
std::vector<RecomputeSearch::Step>
RecomputeSearch::followRatios(const Stage &stage,
                              const schedule::Schedule &order) const {
  Choice choice(points.size(), 0);
  auto describe = [&](const Choice &made) -> Step {
    return {made, getStageWork(stage, made),
            estimateHeld(order, stage.number, made, false)};
  };
  std::vector<Step> steps = {describe(choice)};
  while (true) {
    std::optional<Step> best;
    double bestRatio = 0;
    for (int chunk : stage.chunks)
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

/// The steps of a stage, ascending by work and descending by bytes. No step is
/// both slower and larger than another.
std::vector<RecomputeSearch::Step>
RecomputeSearch::makeSteps(const Stage &stage,
                           const schedule::Schedule &order) const {
  std::vector<Step> all = countCombinations(stage.chunks) <= effort.maxOfStage
                              ? enumerateSteps(stage, order)
                              : followRatios(stage, order);
  llvm::stable_sort(all, [](const Step &a, const Step &b) {
    return std::pair(a.work, a.held) < std::pair(b.work, b.held);
  });
  std::vector<Step> steps;
  for (Step &step : all)
    if (steps.empty() || step.held < steps.back().held)
      steps.push_back(std::move(step));
  return steps;
}

std::vector<RecomputeSearch::Choice> RecomputeSearch::makeAllChoices() const {
  std::vector<Choice> choices;
  Choice choice(points.size(), 0);
  do
    choices.push_back(choice);
  while (advance(openChunks, choice));
  return choices;
}

/// A pipeline is as slow as its slowest stage. So each amount of work of a
/// stage is tried as a limit for all stages. For each limit there are two
/// choices: every stage takes the step with the fewest bytes within it, or the
/// fastest step that fits by the estimate.
std::vector<RecomputeSearch::Choice>
RecomputeSearch::makeChoicesByWork(ArrayRef<int64_t> gaps) const {
  std::vector<std::vector<Step>> steps;
  std::vector<double> amounts;
  for (const Stage &stage : stages) {
    steps.push_back(makeSteps(stage, start.order));
    for (const Step &step : steps.back())
      amounts.push_back(step.work);
  }
  llvm::sort(amounts);
  amounts.erase(llvm::unique(amounts), amounts.end());
  size_t stride = 1 + 2 * amounts.size() * numOps / effort.maxExactOps;
  std::vector<Choice> choices;
  for (size_t i = 0; i < amounts.size(); i += stride) {
    Choice most(points.size(), 0), enough(points.size(), 0);
    for (const auto &[stage, own] : llvm::zip_equal(stages, steps)) {
      size_t last = 0, first = 0;
      while (last + 1 < own.size() && own[last + 1].work <= amounts[i])
        ++last;
      while (first < last &&
             own[first].held + gaps[stage.number] > limits[stage.number])
        ++first;
      for (int chunk : stage.chunks) {
        most[chunk] = own[last].choice[chunk];
        enough[chunk] = own[first].choice[chunk];
      }
    }
    choices.push_back(std::move(most));
    choices.push_back(std::move(enough));
  }
  llvm::sort(choices);
  choices.erase(llvm::unique(choices), choices.end());
  return choices;
}

/// Plans predictions, the shortest first. If a prediction is only a lower
/// bound, or was made for smaller gaps, it is made again before: a plan that
/// takes more than the estimate has increased the gaps.
RecomputeSearch::Answer
RecomputeSearch::runByEstimates(std::vector<int64_t> gaps, Choice &chosen) {
  std::vector<Prediction> predictions;
  for (Choice &choice : isSmall() ? makeAllChoices() : makeChoicesByWork(gaps))
    if (auto least = getLeastStep(choice, gaps))
      predictions.push_back({*least, std::move(choice)});
  allowOrders();
  Answer found = std::optional<MemoryAttempt>();
  int numPlans = 0, numFitted = 0, most = searches ? effort.maxFitted : 1;
  while (numPlans != maxCorrections && numFitted != most &&
         !predictions.empty()) {
    auto best =
        llvm::min_element(predictions, [](const auto &a, const auto &b) {
          return a.step < b.step;
        });
    // It is only a bound, or gaps have increased since, or its own plan did not
    // fit.
    if (best->numPlans != numPlans) {
      if (best->numPlans >= 0)
        ordersLeft = std::max<size_t>(ordersLeft, maxTightenings);
      auto again = predict(best->choice, gaps);
      if (again && (again->bounds != best->bounds || !best->wasPlanned)) {
        again->numPlans = numPlans;
        *best = std::move(*again);
      } else {
        predictions.erase(best);
      }
      continue;
    }
    best->wasPlanned = true;
    if (searches && !planned.insert({best->choice, best->bounds}).second) {
      predictions.erase(best);
      continue;
    }
    ++numPlans;
    auto result = attempt(getPolicies(best->choice), best->bounds);
    if (failed(result))
      return failure();
    if (!result->outOfMemory && !result->fits(limits)) {
      for (auto [stage, arena] : llvm::enumerate(result->arenas))
        gaps[stage] =
            std::max(gaps[stage], arena - estimateHeld(result->order, stage,
                                                       best->choice, false));
      continue;
    }
    if (!result->outOfMemory) {
      ++numFitted;
      if (!*found || result->step < (*found)->step) {
        *found = std::move(*result);
        chosen = best->choice;
      }
    }
    predictions.erase(best);
  }
  return found;
}

/// All choices that differ in one chunk, or in two chunks of one stage.
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
  for (const Stage &stage : stages)
    for (auto [i, chunk] : llvm::enumerate(stage.chunks))
      change(choice, chunk, [&](const Choice &changed) {
        add(changed);
        for (int other : ArrayRef(stage.chunks).drop_front(i + 1))
          change(changed, other, add);
      });
  return neighbours;
}

/// The neighbours of the choice of `best` that may take less than `most`. If
/// the schedule searches, few orders will be made. Neighbours then come first
/// whose step is shorter than that of `best`, by the bound or in the order of
/// `best`.
std::vector<RecomputeSearch::Prediction>
RecomputeSearch::getShorter(const MemoryAttempt &best, const Choice &choice,
                            double most, ArrayRef<int64_t> gaps) const {
  std::vector<Prediction> shorter;
  double ratio = 1;
  if (std::optional<double> own = getLeastStep(choice, gaps); searches && own)
    ratio = std::max(1.0, most / *own);
  for (Choice &neighbour : getNeighbours(choice)) {
    auto least = getLeastStep(neighbour, gaps);
    if (!least || *least >= most)
      continue;
    double step = *least * ratio;
    if (searches)
      if (auto same =
              describeOrder(makeProblem(neighbour), best.order, neighbour);
          same && llvm::all_of(llvm::zip_equal(same->held, gaps, limits),
                               [](const auto &all) {
                                 auto [held, gap, limit] = all;
                                 return held + gap <= limit;
                               }))
        step = std::min(step, same->step);
    shorter.push_back({step, std::move(neighbour)});
  }
  return shorter;
}

/// Changes choices for as long as the step gets shorter. Even if each stage has
/// its least time, the step may not be the shortest: how that time is divided
/// between chunks, and between B and W, also counts.
LogicalResult RecomputeSearch::improve(MemoryAttempt &best, Choice choice) {
  allowOrders();
  for (int left = searches ? effort.maxChanged : maxImprovements; left > 0;) {
    if (getNeighbours(choice).size() * numOps > effort.maxExactOps)
      return success();
    std::vector<int64_t> gaps;
    for (auto [stage, arena] : llvm::enumerate(best.arenas))
      gaps.push_back(arena - estimateHeld(best.order, stage, choice, false));
    // Predictions come from list scheduling, so `most` has to, too.
    double most = best.step;
    if (searches)
      if (auto own = predict(choice, gaps))
        most = std::max(most, own->step);
    std::vector<Prediction> shorter = getShorter(best, choice, most, gaps);
    bool isBetter = false;
    while (!isBetter && left > 0 && !shorter.empty()) {
      auto next = llvm::min_element(shorter, [](const auto &a, const auto &b) {
        return a.step < b.step;
      });
      Prediction prediction = std::move(*next);
      if (prediction.numPlans < 0) {
        auto made = predict(prediction.choice, gaps);
        if (made && made->step < most) {
          *next = std::move(*made);
          next->numPlans = 0;
        } else {
          shorter.erase(next);
        }
        continue;
      }
      shorter.erase(next);
      --left;
      auto result =
          attempt(getPolicies(prediction.choice), std::move(prediction.bounds));
      if (failed(result))
        return failure();
      isBetter = result->fits(limits) && result->step < best.step;
      if (!isBetter)
        continue;
      best = std::move(*result);
      choice = std::move(prediction.choice);
    }
    if (!isBetter)
      return success();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

/// Whether all combinations can be simulated.
bool RecomputeSearch::isSmall() const {
  size_t count = countCombinations(openChunks);
  return count <= effort.maxExact && count * numOps <= effort.maxExactOps;
}

RecomputeSearch::Answer RecomputeSearch::run() {
  if (failed(findPoints()))
    return failure();
  std::optional<MemoryAttempt> best;
  if (isSmall() && !(searches && effort.canTighten)) {
    auto exact = runExactly();
    if (failed(exact))
      return failure();
    best = std::move(*exact);
    if (best && !effort.canTighten)
      return best;
  }
  // The gap between an arena and its estimate is mostly the part that lasts
  // throughout the step. Most of the rest grows with what is held. With the
  // gaps of `start`, which keeps everything, some choices that fit are missed.
  // With gaps that are too small, plans are wasted. So both are tried.
  std::vector<int64_t> gaps;
  Choice first(points.size(), 0), chosen;
  for (auto [stage, arena] : llvm::enumerate(start.arenas))
    gaps.push_back(arena - estimateHeld(start.order, stage, first, false));
  for (const std::vector<int64_t> &narrowest : {gaps, start.lasting}) {
    Choice choice;
    auto found = runByEstimates(narrowest, choice);
    if (failed(found) ||
        (*found && !searches && failed(improve(**found, choice))))
      return failure();
    if (!*found || (best && (*found)->step >= best->step))
      continue;
    best = std::move(*found);
    chosen = std::move(choice);
  }
  if (best && searches && failed(improve(*best, chosen)))
    return failure();
  return best;
}

std::vector<std::vector<Recompute>>
RecomputeSearch::getSteps(ArrayRef<schedule::Schedule> orders,
                          std::optional<double> most) const {
  std::vector<Choice> choices(numShares + 1, Choice(points.size(), 0));
  for (const Stage &stage : stages) {
    std::vector<Step> steps = makeSteps(stage, orders[stage.number]);
    // A step cannot fit if it holds more than the part that lasts leaves.
    int64_t room = limits[stage.number] - start.lasting[stage.number];
    size_t last = steps.size() - 1, first = 0;
    while (first != last && steps[first].held > room)
      ++first;
    for (int share = 0; share <= numShares; ++share)
      for (int chunk : stage.chunks)
        choices[share][chunk] =
            steps[first + (last - first) * share / numShares].choice[chunk];
  }
  std::vector<std::vector<Recompute>> result;
  result.reserve(choices.size());
  for (const Choice &choice : choices) {
    auto least = most ? getLeastStep(choice, start.lasting, /*isBound=*/true)
                      : std::nullopt;
    if (!most || (least && *least < *most))
      result.push_back(getPolicies(choice));
  }
  return result;
}
