//===- ZeroBubbleV.cpp - ZB-V ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qi et al., Zero Bubble Pipeline Parallelism (2024), section 6, and Pipeline
// Parallelism with Controllable Memory (2024). Stage s holds chunks s and
// 2p-1-s, so that a microbatch moves in a V: it goes from stage 0 to the last
// stage and back, turns around on stage 0, and does the same backward. Backward
// is split, and W, for which nothing waits, fills the gaps. With equal F, B and
// W, a long enough step has no gaps, with the memory of 1F1B.
//
// Several constructions give orders, and the best one by the objective wins:
// the published rounds in their variants (VRounds.h), their order from mean
// costs (ZeroBubbleVReference.h), blocks regardless of costs (Plan.h), patterns
// (PatternSearch.h), and list scheduling (ListBuilder.h). The last two also
// support memory limits below p activations.
//
//===----------------------------------------------------------------------===//

#include "Attempts.h"
#include "Generators.h"
#include "PatternSearch.h"
#include "Plan.h"
#include "VRounds.h"
#include "ZeroBubbleVReference.h"

#include <algorithm>
#include <array>

using namespace veeline::schedule;

/// Tries one variant of the rounds. Repeats it with the waits of its stages
/// approved, as long as that shortens the longest wait.
static void tryRounds(LegBuilder &builder, VRoundsOptions variant,
                      VRoundsFills &fills, Best &best) {
  // An attempt that is not the best may become it when it is repeated.
  LegGoal goal;
  goal.idle = LegGoal::never;
  do {
    builder.setGoal(goal);
    if (!buildVRounds(builder, variant, fills))
      return;
    best.offer(builder);
    if (builder.maxIdle() >= goal.idle || best.isShortest(builder.getProblem()))
      return;
    goal = best.goal();
    goal.idle = builder.maxIdle();
    variant.approvedIdle.clear();
    for (int stage = 0; stage < builder.getProblem().stages(); ++stage)
      variant.approvedIdle.push_back(builder.idle(stage));
  } while (goal.idle > 0);
}

static void tryAllRounds(LegBuilder &builder, Best &best) {
  for (bool weightAtOnce : {false, true}) {
    if (weightAtOnce && !builder.getProblem().hasChunkWithoutInputGradient())
      break;
    VRoundsVariants variants;
    for (bool fillBeforeForward : {true, false})
      for (bool fillBeforeBackward : {true, false}) {
        VRoundsOptions variant;
        variant.fillBeforeForward = fillBeforeForward;
        variant.fillBeforeBackward = fillBeforeBackward;
        variant.weightAtOnce = weightAtOnce;
        if (variants.isKnown(variant))
          continue;
        tryRounds(builder, variant, variants.of(variant), best);
        if (best.isShortest(builder.getProblem()))
          return;
      }
  }
}

static void tryBlocks(LegBuilder &builder, Best &best) {
  const LegProblem &problem = builder.getProblem();
  Plan plan = blockPlan(problem.stages(), problem.microbatches());
  constexpr std::array<PlanOptions, 4> variants{
      {{.keepWeights = true, .overrun = 0},
       {.keepWeights = true, .overrun = 0.5},
       {.keepWeights = false, .overrun = 0.5},
       {.keepWeights = false, .overrun = 1}}};
  for (const PlanOptions &options : variants) {
    builder.setGoal(best.goal());
    if (buildPlan(builder, plan, options))
      best.offer(builder);
  }
}

/// Tries the published order, which is made from mean costs, with the true
/// costs.
static void tryReference(const Problem &problem, LegBuilder &builder,
                         Best &best) {
  bool uniform = true;
  for (const Chunk &chunk : problem.chunks)
    uniform &= chunk.hasBackwardInput &&
               chunk.forward == problem.chunks[0].forward &&
               chunk.backwardInput == problem.chunks[0].backwardInput &&
               chunk.backwardWeight == problem.chunks[0].backwardWeight;
  for (const Edge &edge : problem.edges)
    uniform &= edge.forwardTransfer == problem.edges[0].forwardTransfer &&
               edge.backwardTransfer == problem.edges[0].forwardTransfer;
  // In that case, the rounds have already produced the order.
  if (uniform && best.isFound())
    return;
  Expected<LegBuilder::Orders> orders = referenceOrders(problem);
  if (!orders)
    return;
  Plan plan = planOf(builder.getProblem(), *orders);
  for (double overrun : {0.0, 0.5}) {
    builder.setGoal(best.goal());
    if (buildPlan(builder, plan, {.keepWeights = true, .overrun = overrun}))
      best.offer(builder);
  }
}

/// Whether every chunk waits for the one before it.
static bool isChain(const Problem &problem) {
  std::vector<bool> follows(problem.numChunks());
  for (const Edge &edge : problem.edges)
    if (edge.to == edge.from + 1)
      follows[edge.to] = true;
  return std::count(follows.begin(), follows.end(), true) ==
         problem.numChunks() - 1;
}

/// Raises limits that are not given. If the chunks of a stage hold different
/// amounts, or do not form a chain, the published order may need more than p
/// activations.
static void raiseFreeLimits(const Problem &problem, LegProblem &onV) {
  bool mayNeedMore = !isChain(problem);
  for (int stage = 0; stage < onV.stages(); ++stage)
    mayNeedMore |= !onV.hasGivenLimit(stage) &&
                   onV.leg(stage, 0).memory != onV.leg(stage, 1).memory;
  if (!mayNeedMore)
    return;
  std::vector<std::int64_t> least = referenceLimits(problem);
  for (int stage = 0; stage < onV.stages(); ++stage)
    if (!onV.hasGivenLimit(stage))
      onV.setLimit(stage, std::max(onV.limit(stage), least[stage]));
}

Expected<Schedule>
veeline::schedule::generateZeroBubbleV(const Problem &problem,
                                       const GeneratorOptions &options) {
  LegProblem onV(problem);
  if (Status status = checkLeastLimits(problem, onV, "zb-v"); !status)
    return status.takeError();

  raiseFreeLimits(problem, onV);
  LegBuilder builder(onV);
  Best best(options.objective);
  tryAllRounds(builder, best);
  if (!best.isShortest(onV)) {
    tryReference(problem, builder, best);
    tryBlocks(builder, best);
    offerMore(problem, builder, best);
  }
  Schedule schedule = LegBuilder::decode(best.orders(), problem);
  schedule.name = "zb-v";
  return schedule;
}
