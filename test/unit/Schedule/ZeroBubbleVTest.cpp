//===- ZeroBubbleVTest.cpp ------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "Figures.h"

using namespace veeline::schedule;

static Simulation simulated(const Problem &problem,
                            Objective objective = Objective::Makespan) {
  return simulated("zb-v", problem, objective);
}

TEST(ZeroBubbleV, Order) {
  EXPECT_EQ(orderOf("zb-v", 1, 2, 1), (Lines{"0F0 1F0 1B0 0B0 1W0 0W0"}));
  EXPECT_EQ(orderOf("zb-v", 2, 2, 3),
            (Lines{"0F0 0F1 0F2 3F0 3B0 3W0 3F1 3B1 3W1 0B0 0W0 3F2 3B2 0B1 "
                   "3W2 0B2 0W1 0W2",
                   "1F0 2F0 1F1 2F1 2B0 2W0 1F2 1B0 1W0 2F2 2B1 1B1 2B2 1B2 "
                   "2W1 1W1 2W2 1W2"}));
}

TEST(ZeroBubbleV, FirstChunkWithoutBackwardInput) {
  Problem problem = makeProblem("zb-v", 2, 2, 2);
  problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  EXPECT_EQ(orderOf("zb-v", problem),
            (Lines{"0F0 0F1 3F0 3B0 3F1 3B1 3W0 3W1 0W0 0W1",
                   "1F0 2F0 1F1 2F1 2B0 1B0 2B1 1B1 2W0 1W0 2W1 1W1"}));
  EXPECT_EQ(simulated(problem).stages[0].busy, 12);
}

/// The problem of a row, in the memory of 1F1B.
static Problem problemOf(const Figures &row) {
  Problem problem = row.problem("zb-v", 2);
  limitMemory(problem, row.p);
  return problem;
}

// Table 8 of the zero-bubble paper: the bubble of its ZB-V, four digits.
TEST(ZeroBubbleV, PublishedTable) {
  std::vector<Figures> rows = readFigures("published.csv", "ZB-V");
  EXPECT_EQ(rows.size(), 9u);
  for (const Figures &row : rows) {
    Simulation result = simulated(problemOf(row), Objective::Span);
    EXPECT_LE(result.bubbleSpan, row.bubbleSpan + 0.5e-4) << row.line;
  }
}

// By either objective, no more bubble than other implementations, in the memory
// of 1F1B.
TEST(ZeroBubbleV, FiguresOfPeers) {
  std::vector<Figures> rows = readFigures("peers.csv", "zb-v");
  EXPECT_EQ(rows.size(), 128u);
  for (size_t i = 0; i < rows.size(); i += veeline::test::isLong() ? 1 : 3) {
    const Figures &row = rows[i];
    Problem problem = problemOf(row);
    Simulation span = simulated(problem, Objective::Span);
    EXPECT_LE(span.bubbleSpan, row.bubbleSpan + 0.5e-6) << row.line;
    EXPECT_LE(peakActivations(span), row.peak) << row.line;
    Simulation makespan = simulated(problem, Objective::Makespan);
    EXPECT_LE(makespan.bubbleMakespan, row.bubbleMakespan + 0.5e-6) << row.line;
    EXPECT_LE(peakActivations(makespan), row.peak) << row.line;
  }
}

// Without a limit, the memory of 1F1B is not exceeded.
TEST(ZeroBubbleV, MemoryWithoutALimit) {
  for (int p : {1, 2, 3, 4, 8})
    for (int m : {1, 2, 5, 16, 24})
      EXPECT_LE(peakActivations(simulated(makeProblem("zb-v", p, 2, m))), p);
}

// Every limit from the least possible one on gives a schedule within it. More
// memory makes no bubble larger.
TEST(ZeroBubbleV, EveryLimit) {
  for (int p : {2, 4, 8})
    for (int m : {1, 3, 8, 16}) {
      double bubble = 1;
      for (int halves = 2; halves <= 2 * (p + 1); ++halves) {
        double limit = halves / 2.0;
        Problem problem = makeProblem("zb-v", p, 2, m, 10, 11, 7, 1);
        limitMemory(problem, limit);
        Simulation result = simulated(problem);
        EXPECT_LE(peakActivations(result), limit);
        EXPECT_LE(result.bubbleMakespan, bubble) << p << " " << m;
        bubble = result.bubbleMakespan;
      }
    }
}

// The bubble that list scheduling reaches below 1F1B's memory (unit costs, p =
// 8, m = 16).
TEST(ZeroBubbleV, LowMemory) {
  double bounds[] = {0.25, 0.175, 0.13, 0.1};
  for (int limit = 4; limit <= 7; ++limit) {
    Problem problem = makeProblem("zb-v", 8, 2, 16, 1000, 1000, 1000, 1);
    limitMemory(problem, limit);
    EXPECT_LE(simulated(problem, Objective::Span).bubbleSpan,
              bounds[limit - 4]);
  }
}

TEST(ZeroBubbleV, LimitThatCannotBeMet) {
  Problem problem = makeProblem("zb-v", 2, 2, 4);
  problem.memoryLimits = {2 * activationUnit, activationUnit - 1};
  Expected<Schedule> schedule = generate("zb-v", problem);
  ASSERT_FALSE(schedule);
  const Error &error = schedule.error();
  EXPECT_EQ(error.kind, ErrorKind::OutOfMemory);
  EXPECT_EQ(error.stage, 1);
  EXPECT_EQ(error.leastLimit, activationUnit);
  EXPECT_EQ(error.message, "stage 1: the memory limit of 1 activation is too "
                           "low for any order of zb-v; one microbatch alone "
                           "needs 1 activation");
  problem.memoryLimits[1] = *error.leastLimit;
  EXPECT_TRUE(generate("zb-v", problem));
  problem.memoryLimits = {0, 0};
  EXPECT_FALSE(generate("zb-v", problem));
}

TEST(ZeroBubbleV, ALimitWithoutMemoryIsMet) {
  Problem problem = makeProblem("zb-v", 2, 2, 4);
  for (Chunk &chunk : problem.chunks)
    chunk.forwardMemory = chunk.backwardWeightMemory = 0;
  problem.memoryLimits = {0, 0};
  EXPECT_TRUE(generate("zb-v", problem));
}

// By its own measure, each objective is at least as good as the other.
TEST(ZeroBubbleV, Objectives) {
  Random random = makeRandom();
  const int count = veeline::test::rounds(300, 3);
  for (int round = 0; round < count; ++round) {
    Problem problem = randomProblem(random, "zb-v", randomInt(random, 1, 8),
                                    randomInt(random, 1, 24));
    problem.memoryLimits.clear();
    Simulation makespan = simulated(problem, Objective::Makespan);
    Simulation span = simulated(problem, Objective::Span);
    EXPECT_LE(makespan.makespan, span.makespan);
    EXPECT_LE(longestSpan(span), longestSpan(makespan));
  }
}
