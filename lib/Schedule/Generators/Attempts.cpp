//===- Attempts.cpp - the best of several constructions -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attempts.h"

#include "ListBuilder.h"
#include "veeline/Schedule/Memory.h"

using namespace veeline::schedule;

/// Returns the storage of a best that is about to be replaced, or else a new
/// one.
std::shared_ptr<LegBuilder::Orders> Best::storage(const bool *isBest) {
  for (int side : {0, 1})
    if (isBest[side] && sides[side].orders &&
        (isBest[1 - side] || sides[0].orders != sides[1].orders))
      return sides[side].orders;
  return std::make_shared<LegBuilder::Orders>();
}

bool Best::offer(LegBuilder &builder) {
  Key keys[2];
  bool isBest[2] = {};
  for (Objective kind : {Objective::Makespan, Objective::Span}) {
    int side = static_cast<int>(kind);
    keys[side] = builder.key(kind);
    isBest[side] = !isFound() || keys[side] < sides[side].key;
  }
  if (!isBest[0] && !isBest[1])
    return false;
  std::shared_ptr<LegBuilder::Orders> orders = storage(isBest);
  builder.swapOrders(*orders);
  for (int side : {0, 1})
    if (isBest[side])
      sides[side] = {keys[side], orders};
  return true;
}

LegGoal Best::goal() const {
  if (!isFound())
    return {};
  return {sides[static_cast<int>(Objective::Makespan)].key,
          sides[static_cast<int>(Objective::Span)].key};
}

bool Best::isShortest(const LegProblem &problem) const {
  double makespan = 0, span = 0;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    span = std::max(span, problem.work(stage));
    makespan = std::max(makespan, problem.fill(stage) + problem.work(stage));
  }
  constexpr double rounding = 1 + 1e-9;
  LegGoal reached = goal();
  return reached.makespan[0] <= makespan * rounding &&
         reached.span[0] <= span * rounding;
}

void veeline::schedule::offerLists(LegBuilder &builder, std::int64_t budget,
                                   int atLeast, Best &best) {
  const LegProblem &problem = builder.getProblem();
  std::int64_t operations = std::int64_t(3) * problem.legs() *
                            problem.stages() * problem.microbatches();
  // Variants that win most often come first.
  int tried = 0;
  for (double reserve : {0.25, 0.5, 0.75, 0.0})
    for (Direction first : {Direction::Backward, Direction::Forward})
      for (double overrun : {0.5, 0.0}) {
        ++tried;
        if (tried > atLeast && tried * operations > budget)
          return;
        builder.setGoal(best.goal());
        if (buildList(builder, {.first = first,
                                .lastLegFirst = true,
                                .reserve = reserve,
                                .overrun = overrun}))
          best.offer(builder);
      }
}

Status veeline::schedule::checkLimits(const Problem &problem,
                                      const LegProblem &legs,
                                      std::string_view name,
                                      const std::vector<std::int64_t> &least,
                                      std::string_view why) {
  for (int stage = 0; stage < legs.stages(); ++stage) {
    if (least[stage] <= legs.limit(stage))
      continue;
    Error error{ErrorKind::OutOfMemory,
                "stage " + std::to_string(stage) + ": the memory limit of " +
                    formatMemory(problem, legs.limit(stage)) +
                    " is too low for any order of " + std::string(name) + "; " +
                    std::string(why) + " " +
                    formatMemory(problem, least[stage])};
    error.stage = stage;
    error.leastLimit = least[stage];
    return error;
  }
  return Status::success();
}

Status veeline::schedule::checkLeastLimits(const Problem &problem,
                                           const LegProblem &legs,
                                           std::string_view name) {
  std::vector<std::int64_t> least;
  least.reserve(legs.stages());
  for (int stage = 0; stage < legs.stages(); ++stage)
    least.push_back(legs.leastLimit(stage));
  return checkLimits(problem, legs, name, least, "one microbatch alone needs");
}

std::vector<std::int64_t>
veeline::schedule::leastLimitsOf(const LegProblem &legs,
                                 const LegBuilder::Orders &orders) {
  std::vector<std::int64_t> least;
  for (int stage = 0; stage < legs.stages(); ++stage) {
    std::int64_t held = 0, peak = 0;
    for (std::int32_t code : orders[stage]) {
      if (code < 0 || code >= legs.codes())
        continue;
      held += legs.leg(stage, code).memory;
      peak = std::max(peak, held);
      held += legs.leg(stage, code).weightMemory;
    }
    least.push_back(peak);
  }
  return least;
}
