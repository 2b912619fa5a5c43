//===- ControllableMemory.cpp - V-Half and V-Min --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qi, Wan, Amar, Lin: Pipeline Parallelism with Controllable Memory (2024,
// arXiv:2405.15362). On a V, the memory of a stage grows with the time that a
// microbatch is in flight. So a pattern of one microbatch through the stages,
// repeated once per period, determines the memory. V-Min takes the microbatch
// through as fast as possible, with about 1/3 of 1F1B's activations. V-Half is
// slower on the way down, forward and backward, with about 1/2. p = 4, equal
// costs, stage 0 and stage 3 of V-Min (F down, f up, b and B back):
//
//   stage 0: F0 F1 F2 .  .  .  .  f0 b0 w0 .  .  f1 b1 w1 B0 F3 W0 .  ...
//   stage 3: .  .  .  F0 f0 F1 f1 .  .  .  .  b0 B0 w0 F2 W0 f2 b1 B1 ...
//
// The published order is made for equal costs and ignores others. Here patterns
// are made with the costs of the chunks, in many shapes (Pattern.h,
// PatternSearch.h), and followed by simulation: a stage that would wait runs
// later operations that fit its memory, or a W. List scheduling competes, and
// is used if no pattern fits.
//
// Activations: at most (p+2)/2 (V-Half) and (p+4)/3 (V-Min), rounded down; a
// lower limit is also obeyed. No closed form of the bubble: with F = B = W,
// free transfers, p = 8 and m = 32 it is 0.0813 and 0.1070 (docs/schedules.md).
// O(operations), after a search that places a bounded number of them.
//
//===----------------------------------------------------------------------===//

#include "Attempts.h"
#include "Generators.h"
#include "PatternSearch.h"

using namespace veeline::schedule;

/// `activations` is the number that a stage may hold.
static Expected<Schedule> generateWithin(const Problem &problem,
                                         const GeneratorOptions &options,
                                         const char *name, int activations) {
  LegProblem legs(problem);
  for (int stage = 0; stage < legs.stages(); ++stage) {
    std::int64_t limit =
        std::max(activations * legs.held(stage), legs.leastLimit(stage));
    legs.setLimit(stage, legs.hasGivenLimit(stage)
                             ? std::min(legs.limit(stage), limit)
                             : limit);
  }
  if (Status status = checkLeastLimits(problem, legs, name); !status)
    return status.takeError();
  LegBuilder builder(legs);
  Best best(options.objective);
  offerMore(problem, builder, best);
  Schedule schedule = LegBuilder::decode(best.orders(), problem);
  schedule.name = name;
  return schedule;
}

Expected<Schedule>
veeline::schedule::generateVHalf(const Problem &problem,
                                 const GeneratorOptions &options) {
  return generateWithin(problem, options, "v-half", (problem.stages() + 2) / 2);
}

Expected<Schedule>
veeline::schedule::generateVMin(const Problem &problem,
                                const GeneratorOptions &options) {
  return generateWithin(problem, options, "v-min", (problem.stages() + 4) / 3);
}
