//===- InterleavedZeroBubble.cpp - interleaved with split backward --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interleaved placement of Narayanan et al. (2021, arXiv:2104.04473) with
// the split backward of Qi et al. (2024, arXiv:2401.10241); PyTorch's
// ScheduleInterleavedZeroBubble. p = 2, v = 2, m = 2:
//
//   stage 0: 0F0 0F1 2F0 2F1 .   2B0 2W0 2B1 2W1 0B0 0W0 0B1 0W1
//   stage 1: .   1F0 1F1 3F0 3B0 3F1 3B1 3W0 1B0 3W1 1B1 1W0 1W1
//
// The order of F and B is as follows. A stage takes microbatches in groups of p
// (the last group has the remainder of m). Each group passes the stage's chunks
// one after the other, in ascending order forward and in descending order
// backward. Stage s warms up with (v-1) times the largest group plus p-1-s
// forwards, then B and F alternate.
//
// In PyTorch's order a W follows every B from the s-th on. Here W also fill
// gaps. Longer warm-ups, patterns (PatternSearch.h) and list scheduling
// (ListBuilder.h) compete with this order, and list scheduling is used if
// memory does not admit the others. O(operations).
//
// Without a limit, a stage holds p activations if p divides m, else what the
// order above holds. The bubble with F = B = W, p dividing m and free transfers
// is (p-1)/(3vm + p-1).
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"
#include "PatternSearch.h"
#include "Plan.h"

using namespace veeline::schedule;

/// Returns the order above. `spread` is the difference between the warm-ups of
/// adjacent stages.
static Plan interleavedPlan(const LegProblem &legs, int spread) {
  int p = legs.stages(), v = legs.legs(), m = legs.microbatches();
  std::vector<int> groups = groupsOf(p, m);
  std::vector<std::int32_t> order;
  for (int group : groups)
    for (int leg = 0; leg < v; ++leg)
      order.insert(order.end(), group, leg);
  int total = v * m;
  int largest = *std::max_element(groups.begin(), groups.end());
  Plan plan(p);
  for (int stage = 0; stage < p; ++stage) {
    std::int64_t wanted =
        std::int64_t(v - 1) * largest + std::int64_t(spread) * (p - 1 - stage);
    int warmUp = static_cast<int>(std::min<std::int64_t>(wanted, total));
    std::vector<std::int32_t> &steps = plan[stage];
    steps.reserve(std::size_t(3) * total);
    steps.assign(order.begin(), order.begin() + warmUp);
    for (int i = 0; i < total; ++i) {
      if (warmUp + i < total)
        steps.push_back(order[warmUp + i]);
      steps.push_back(v + order[i]);
      if (i >= stage)
        steps.push_back(planWeight);
    }
  }
  return plan;
}

static void tryPlans(LegBuilder &builder, Best &best) {
  constexpr PlanOptions variants[] = {{.keepWeights = true, .overrun = 0},
                                      {.keepWeights = true, .overrun = 0.5},
                                      {.keepWeights = false, .overrun = 0},
                                      {.keepWeights = false, .overrun = 0.5}};
  for (int spread : {1, 2, 3}) {
    Plan plan = interleavedPlan(builder.getProblem(), spread);
    for (const PlanOptions &variant : variants) {
      builder.setGoal(best.goal());
      if (buildPlan(builder, plan, variant))
        best.offer(builder);
    }
  }
}

Expected<Schedule> veeline::schedule::generateInterleavedZeroBubble(
    const Problem &problem, const GeneratorOptions &options) {
  LegProblem legs(problem);
  if (Status status = checkLeastLimits(problem, legs, "interleaved-zb");
      !status)
    return status.takeError();
  std::vector<std::int64_t> held =
      leastLimitsOf(legs, interleavedPlan(legs, 1));
  for (int stage = 0; stage < legs.stages(); ++stage)
    if (!legs.hasGivenLimit(stage))
      legs.setLimit(stage, std::max(legs.limit(stage), held[stage]));

  LegBuilder builder(legs);
  Best best(options.objective);
  tryPlans(builder, best);
  offerMore(problem, builder, best);
  Schedule schedule = LegBuilder::decode(best.orders(), problem);
  schedule.name = "interleaved-zb";
  return schedule;
}
