//===- Attempts.cpp - the best of several constructions -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attempts.h"

#include "../Memory.h"

using namespace veeline::schedule;

void Best::offer(const LegBuilder &builder) {
  double makespan = builder.makespan(), span = builder.span();
  if (objective == Objective::Span)
    std::swap(makespan, span);
  std::array key{makespan, span, static_cast<double>(builder.peakMemory())};
  if (found && key >= bestKey)
    return;
  found = true;
  bestKey = key;
  best = builder.orders();
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
      if (code >= legs.codes())
        continue;
      held += legs.leg(stage, code).memory;
      peak = std::max(peak, held);
      held += legs.leg(stage, code).weightMemory;
    }
    least.push_back(peak);
  }
  return least;
}
