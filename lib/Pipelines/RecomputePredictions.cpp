//===- RecomputePredictions.cpp - the step of a combination ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecomputeSearch.h"

#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Limits.h"
#include "veeline/Schedule/Recompute.h"
#include "veeline/Schedule/Simulator.h"

#include <cmath>

using namespace mlir;
using namespace veeline;

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
