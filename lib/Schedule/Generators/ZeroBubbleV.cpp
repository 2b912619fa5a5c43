//===- ZeroBubbleV.cpp - ZB-V ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qi et al., Zero Bubble Pipeline Parallelism (2024), section 6, and Pipeline
// Parallelism with Controllable Memory (2024). Stage s holds chunks s and
// 2p-1-s, so that a microbatch draws a V: it comes down and goes back up, turns
// around on stage 0, and does the same backward. Backward is split, and W,
// which nobody waits for, fills the gaps. With equal F, B and W the gaps of a
// long enough step vanish, in the memory of 1F1B.
//
// Three constructions give the orders, and the best one by the objective wins:
// the published rounds in their variants (VRounds.h), blocks with no regard to
// costs (Plan.h), and list scheduling (ListBuilder.h), which alone copes with
// memory limits below p activations.
//
//===----------------------------------------------------------------------===//

#include "Attempts.h"
#include "Generators.h"
#include "ListBuilder.h"
#include "Plan.h"
#include "VRounds.h"

#include <array>

using namespace veeline::schedule;

namespace {
/// What tells the results of two variants of the rounds apart.
using Signature = std::array<double, 3>;
} // namespace

static Signature signatureOf(const LegBuilder &builder) {
  return {builder.makespan(), builder.span(), builder.maxIdle()};
}

/// One variant of the rounds, repeated with what its stages waited as long as
/// that shortens the longest wait. Does not repeat what an earlier variant did.
static void tryRounds(LegBuilder &builder, VRoundsOptions variant,
                      std::vector<Signature> &seen, Best &best) {
  if (!buildVRounds(builder, variant))
    return;
  Signature signature = signatureOf(builder);
  if (std::find(seen.begin(), seen.end(), signature) != seen.end())
    return;
  seen.push_back(signature);
  best.offer(builder);
  double idle;
  do {
    idle = builder.maxIdle();
    variant.approvedIdle.clear();
    for (int stage = 0; stage < builder.getProblem().stages(); ++stage)
      variant.approvedIdle.push_back(builder.idle(stage));
    if (!buildVRounds(builder, variant))
      return;
    best.offer(builder);
  } while (builder.maxIdle() < idle);
}

static void tryAllRounds(LegBuilder &builder, Best &best) {
  std::vector<Signature> seen;
  for (bool weightAtOnce : {false, true}) {
    if (weightAtOnce && !builder.getProblem().hasChunkWithoutInputGradient())
      break;
    for (bool fillBeforeForward : {true, false})
      for (bool fillBeforeBackward : {true, false})
        tryRounds(builder,
                  {fillBeforeForward, fillBeforeBackward, weightAtOnce}, seen,
                  best);
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
  for (const PlanOptions &options : variants)
    if (buildPlan(builder, plan, options))
      best.offer(builder);
}

Expected<Schedule>
veeline::schedule::generateZeroBubbleV(const Problem &problem,
                                       const GeneratorOptions &options) {
  LegProblem onV(problem);
  if (Status status = checkLeastLimits(problem, onV, "zb-v"); !status)
    return status.takeError();

  LegBuilder builder(onV);
  Best best(options.objective);
  tryAllRounds(builder, best);
  tryBlocks(builder, best);
  // Short steps leave time for more; tight memory leaves nothing else.
  constexpr std::int64_t shortBudget = 20'000, longBudget = 1'000'000;
  if (best.isFound())
    offerLists(builder, shortBudget, 0, best);
  else
    offerLists(builder, longBudget, 4, best);

  Schedule schedule = LegBuilder::decode(best.orders(), problem);
  schedule.name = "zb-v";
  return schedule;
}
