//===- BoundsTest.cpp - bounds hold, and are met where they should be -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Bounds.h"
#include "../Rounds.h"
#include "Exact.h"
#include "RandomSchedules.h"

#include <algorithm>
#include <cmath>

using namespace veeline::schedule;

/// No bound is above what a schedule reaches.
static void expectBelow(const Bounds &bounds, const Simulation &simulation) {
  constexpr double slack = 1 + 1e-9;
  for (std::size_t stage = 0; stage < bounds.stages.size(); ++stage) {
    const StageStatistics &statistics = simulation.stages[stage];
    double span = statistics.lastEnd - statistics.firstStart;
    ASSERT_LE(bounds.stages[stage].span.time, span * slack)
        << "stage " << stage << ", "
        << toString(bounds.stages[stage].span.kind);
    ASSERT_LE(bounds.stages[stage].makespan.time, simulation.makespan * slack)
        << "stage " << stage << ", "
        << toString(bounds.stages[stage].makespan.kind);
  }
  ASSERT_LE(bounds.makespan.time, simulation.makespan * slack);
  ASSERT_LE(bounds.span.time, longestSpan(simulation) * slack);
  ASSERT_LE(bounds.bubbleMakespan, simulation.bubbleMakespan + 1e-9);
  ASSERT_LE(bounds.bubbleSpan, simulation.bubbleSpan + 1e-9);
}

TEST(Bounds, FillAndDrainOfFusedPipelines) {
  // (m + p - 1) (F + B + W), which GPipe and 1F1B reach.
  for (int p : {1, 2, 5})
    for (int m : {1, 3, 8}) {
      Problem problem = makeProblem("1f1b", p, 1, m, 2, 3, 1, 0.5);
      Bounds bounds = lowerBounds(problem, {.fusedBackward = true});
      EXPECT_NEAR(bounds.makespan.time, (m + p - 1) * 6.0 + 2 * 0.5 * (p - 1),
                  1e-9);
      EXPECT_EQ(bounds.makespanStage, p == 1 || m == 1 ? 0 : p - 1);
      EXPECT_EQ(bounds.makespan.kind, p == 1   ? BoundKind::Busy
                                      : m == 1 ? BoundKind::CriticalPath
                                               : BoundKind::FillAndDrain);
      EXPECT_NEAR(simulated("gpipe", problem).makespan, bounds.makespan.time,
                  1e-9);
      EXPECT_EQ(bounds.span.time >= m * 6, true);
    }
}

TEST(Bounds, SplitBackwards) {
  // p = 3, m = 4, F 2, B 3, W 1, transfer 0: the last stage starts at 4, works
  // 4 (2 + 3) on F and B, and then two B and the W of stage 0 follow; its W fit
  // into that.
  Problem problem = makeProblem("1f1b", 3, 1, 4, 2, 3, 1, 0);
  Bounds bounds = lowerBounds(problem);
  EXPECT_EQ(bounds.makespan.time, 4 + 20 + 6 + 1);
  EXPECT_EQ(bounds.makespanStage, 2);
  EXPECT_EQ(bounds.makespan.kind, BoundKind::FillAndDrain);
  EXPECT_NEAR(bounds.bubbleMakespan, 1 - 24.0 / 31, 1e-12);
}

TEST(Bounds, MemoryOfOneMicrobatchAtATime) {
  // With one activation, stage 0 waits for the whole round trip each time.
  Problem problem = makeProblem("1f1b", 4, 1, 5, 1, 2, 1, 0.5);
  limitMemory(problem, 1);
  Bounds bounds = lowerBounds(problem, {.fusedBackward = true});
  EXPECT_NEAR(bounds.makespan.time, simulated("sequential", problem).makespan,
              1e-9);
  EXPECT_EQ(bounds.makespan.kind, BoundKind::Memory);
  EXPECT_EQ(bounds.makespanStage, 0);
}

TEST(Bounds, MemoryOfSeveral) {
  // 1F1B with p = 4 and limit 2 in steady state: two microbatches in each round
  // trip of 4 (1 + 2 + 1), 8 of them in 4 round trips, less the fill of the
  // second one.
  Problem problem = makeProblem("1f1b", 4, 1, 8, 1, 2, 1);
  limitMemory(problem, 2);
  Bounds bounds = lowerBounds(problem, {.fusedBackward = true});
  EXPECT_EQ(bounds.makespan.time, 4 * 16 + 1);
  EXPECT_EQ(bounds.stages[0].span.time, 4 * 16 + 1);
}

TEST(Bounds, AVNeedsAThirdOfTheActivations) {
  // Equal F, B and W: below p / 3 the memory bound rises with m, as published
  // for V-Min. Above, stage 6 only waits for its first gradient, 18 F and 6 B
  // after its start, of which its memory fills 10.
  Problem problem = makeProblem("zb-v", 12, 2, 48);
  limitMemory(problem, 5);
  EXPECT_EQ(lowerBounds(problem).stages[6].span.time, 6 * 48 + 24 - 10);
  limitMemory(problem, 3.5);
  Bounds bounds = lowerBounds(problem);
  EXPECT_EQ(bounds.span.kind, BoundKind::Memory);
  EXPECT_GT(bounds.bubbleSpan, 0.1);
}

TEST(Bounds, MemoryBeforeTheFirstGradient) {
  // The first gradient reaches stage 7 of a V after 16 F, 7 B and 21 transfers.
  // Until then it has memory for 16 F, which leaves 7 B and 21 transfers; then
  // all else follows. The 16 W that fit after its last B fill its drain.
  Problem problem = makeProblem("zb-v", 8, 2, 16, 9, 10, 7, 1);
  limitMemory(problem, 8);
  Bounds bounds = lowerBounds(problem);
  EXPECT_EQ(bounds.makespanStage, 7);
  EXPECT_EQ(bounds.makespan.kind, BoundKind::Memory);
  EXPECT_NEAR(bounds.makespan.time, 32 * 26 + 7 * 10 + 21, 1e-9);
  // W that take a unit do not fill it: 7 (B + c), less 16 W.
  problem = makeProblem("zb-v", 8, 2, 16, 9, 10, 1, 1);
  limitMemory(problem, 8);
  bounds = lowerBounds(problem);
  EXPECT_NEAR(bounds.makespan.time, 32 * 20 + 7 * 10 + 21 + 77 - 16 + 1, 1e-9);
}

TEST(Bounds, SpanOverAnotherStage) {
  // B = 2F: the span of stage 0 is at least what stage 7 runs between its first
  // gradient, after 16 F, 7 B and 21 transfers, and its last B, and then 7 B, 7
  // transfers and a W. Before and after, it has memory for 16 F and 16 W.
  Problem problem = makeProblem("zb-v", 8, 2, 16, 20, 40, 20, 1);
  limitMemory(problem, 8);
  Bounds bounds = lowerBounds(problem);
  double first = 16 * 20 + 7 * 40 + 21, last = 7 * 41 + 20;
  EXPECT_NEAR(bounds.stages[0].span.time, first + (32 - 8) * 80 + last, 1e-9);
  EXPECT_EQ(bounds.stages[0].span.kind, BoundKind::Memory);
  EXPECT_EQ(bounds.spanStage, 0);
  // A stage with chunk 0 alone, without others.
  problem = makeProblem("1f1b", 1, 1, 2);
  limitMemory(problem, 1);
  EXPECT_EQ(lowerBounds(problem).span.time, 2 * 3);
}

TEST(Bounds, ImpossibleLimits) {
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  limitMemory(problem, 0);
  EXPECT_TRUE(std::isinf(lowerBounds(problem).makespan.time));
  EXPECT_EQ(lowerBounds(problem).bubbleMakespan, 1);
}

TEST(Bounds, NothingTakesTimeOrMemory) {
  Problem problem = makeProblem("1f1b", 2, 1, 2, 0, 0, 0);
  for (Chunk &chunk : problem.chunks)
    chunk.forwardMemory = chunk.backwardWeightMemory = 0;
  limitMemory(problem, 0);
  Bounds bounds = lowerBounds(problem);
  EXPECT_EQ(bounds.makespan.time, 0);
  EXPECT_EQ(bounds.bubbleMakespan, 0);
}

TEST(Bounds, BelowEveryGenerator) {
  Random random = makeRandom();
  int compared = 0, byMemory = 0, above = 0;
  const int rounds = veeline::test::rounds(8000);
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    const Generator &generator =
        generators()[randomInt(random, 0, generators().size() - 1)];
    int p = randomInt(random, 1, 4), m = randomInt(random, 1, 8);
    Problem problem = randomProblem(random, generator.name, p, m);
    Expected<Schedule> schedule =
        generate(generator.name, problem, {.searchSeconds = 0.002});
    if (!schedule)
      continue;
    Bounds bounds =
        lowerBounds(problem, {.fusedBackward = !generator.splitsBackward});
    expectBelow(bounds, *simulate(problem, *schedule));
    expectBelow(lowerBounds(problem), *simulate(problem, *schedule));
    ++compared;
    byMemory += bounds.makespan.kind == BoundKind::Memory;
    above += bounds.makespan.kind != BoundKind::Busy;
  }
  EXPECT_GT(compared, rounds / 2);
  EXPECT_GT(byMemory, rounds / 100);
  EXPECT_GT(above, rounds * 3 / 20);
}

TEST(Bounds, BelowAnyOrderWithBlocksAndTransfers) {
  Random random = makeRandom();
  int compared = 0;
  const int rounds = veeline::test::rounds(80'000);
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    Problem problem = randomSmallProblem(random);
    Schedule schedule = randomOrder(random, problem, true);
    if (randomInt(random, 0, 1) == 0)
      addBlocks(random, schedule);
    SimulationOptions options{randomInt(random, 0, 1) ? Transfers::Buffered
                                                      : Transfers::Rendezvous,
                              randomInt(random, 0, 1) == 0};
    Expected<Simulation> result = simulate(problem, schedule, options);
    if (!result)
      continue;
    // The limits that this very schedule just meets.
    for (const StageStatistics &stage : result->stages)
      problem.memoryLimits.push_back(stage.peakMemory);
    ASSERT_TRUE(verify(problem, schedule));
    expectBelow(lowerBounds(problem), *result);
    ++compared;
  }
  EXPECT_GT(compared, rounds / 2);
}

/// A problem that branch and bound can finish: positive costs, a chain.
static Problem tinyProblem(Random &random) {
  int p = randomInt(random, 1, 2), v = p == 2 ? 1 : randomInt(random, 1, 2);
  int m = randomInt(random, 1, 3);
  Problem problem{*Placement::get(PlacementKind::Interleaved, p, v), m, {}, {}};
  for (int chunk = 0; chunk < p * v; ++chunk) {
    Chunk costs;
    costs.forward = randomInt(random, 1, 4);
    costs.backwardInput = randomInt(random, 1, 4);
    costs.backwardWeight = randomInt(random, 1, 4);
    costs.forwardMemory = 2;
    costs.backwardInputMemory = -randomInt(random, 0, 1);
    costs.backwardWeightMemory = -2 - costs.backwardInputMemory;
    problem.chunks.push_back(costs);
  }
  if (randomInt(random, 0, 1) == 0)
    problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  problem.edges = chainEdges(p * v, randomInt(random, 0, 2));
  if (randomInt(random, 0, 1) == 0)
    for (int stage = 0; stage < p; ++stage)
      problem.memoryLimits.push_back(2 * v + randomInt(random, 0, 2));
  return problem;
}

/// Bounds for orders that may split hold for those that fuse, too, which do
/// less where B and W share work.
TEST(Bounds, SharedWork) {
  Random random = makeRandom();
  for (int round = 0; round < 40; ++round) {
    Problem problem = tinyProblem(random);
    for (Chunk &chunk : problem.chunks)
      chunk.backwardShared =
          std::min(chunk.backwardInput, chunk.backwardWeight);
    ASSERT_TRUE(check(problem));
    double bound = lowerBounds(problem, {.fusedBackward = false}).makespan.time;
    double start = simulated("sequential", problem).makespan;
    for (bool fused : {false, true})
      ASSERT_GE(
          reference::leastTime(problem, Objective::Makespan, fused, start + 0.5)
              .value_or(start + 0.5),
          bound - 1e-9)
          << "round " << round << (fused ? ", fused" : ", split");
  }
}

TEST(Bounds, BelowTheExactOptimum) {
  Random random = makeRandom();
  int met = 0, compared = 0;
  for (int round = 0; round < 150; ++round) {
    Problem problem = tinyProblem(random);
    ASSERT_TRUE(check(problem));
    for (bool fused : {false, true})
      for (Objective objective : {Objective::Makespan, Objective::Span}) {
        Bounds bounds = lowerBounds(problem, {.fusedBackward = fused});
        const Bound &bound =
            objective == Objective::Makespan ? bounds.makespan : bounds.span;
        // Something to beat, or the search takes long.
        Simulation start = simulated("sequential", problem);
        double below = 0;
        for (const StageStatistics &stage : start.stages)
          below = std::max(below, objective == Objective::Makespan
                                      ? start.makespan
                                      : stage.lastEnd - stage.firstStart);
        double best =
            reference::leastTime(problem, objective, fused, below + 0.5)
                .value_or(-1);
        ASSERT_GE(best, bound.time - 1e-9)
            << "round " << round << ", " << toString(bound.kind);
        ++compared;
        met += best < bound.time + 1e-9;
      }
  }
  // The bounds are good: most optima meet them.
  EXPECT_GT(met, compared / 2) << met << " of " << compared;
}
