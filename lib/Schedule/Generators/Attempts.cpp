//===- Attempts.cpp - the best of several constructions -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attempts.h"

#include "../Memory.h"
#include "ListBuilder.h"

using namespace veeline::schedule;

bool Best::offer(const LegBuilder &builder) {
  double makespan = builder.makespan(), span = builder.span();
  double memory = static_cast<double>(builder.peakMemory());
  bool isBest = false;
  for (Objective kind : {Objective::Makespan, Objective::Span}) {
    std::array key{makespan, span, memory};
    if (kind == Objective::Span)
      std::swap(key[0], key[1]);
    Side &side = sides[static_cast<int>(kind)];
    if (found && key >= side.key)
      continue;
    side.key = key;
    side.orders = builder.orders();
    isBest = true;
  }
  found = true;
  return isBest;
}

void veeline::schedule::offerLists(LegBuilder &builder, std::int64_t budget,
                                   int atLeast, Best &best) {
  const LegProblem &problem = builder.getProblem();
  std::int64_t operations = std::int64_t(3) * problem.legs() *
                            problem.stages() * problem.microbatches();
  // Those that win most often come first.
  int tried = 0;
  for (double reserve : {0.25, 0.4, 0.55, 0.3, 0.15, 0.8, 0.0})
    for (Direction first : {Direction::Backward, Direction::Forward})
      for (double overrun : {0.5, 0.0}) {
        if (++tried > atLeast && tried * operations > budget)
          return;
        buildList(builder, {.first = first,
                            .lastLegFirst = true,
                            .reserve = reserve,
                            .overrun = overrun});
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
