//===- SimulatorTest.cpp --------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtilities.h"

#include <algorithm>

using namespace veeline::schedule;

TEST(Simulator, TimesOfASmallPipeline) {
  // F 2, B 1, W 3, transfer 1: by hand.
  //   stage 0: F0 [0,2) F1 [2,4)                BW0 [10,14) BW1 [14,18)
  //   stage 1: F0 [3,5) BW0 [5,9) F1 [9,11) BW1 [11,15) -> gradient at 16
  Problem problem = makeProblem("1f1b", 2, 1, 2, 2, 1, 3, 1);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  Expected<Simulation> result = simulate(problem, *schedule);
  ASSERT_TRUE(result);
  using Times = std::vector<double>;
  EXPECT_EQ(result->start[0], (Times{0, 2, 10, 16}));
  EXPECT_EQ(result->end[0], (Times{2, 4, 14, 20}));
  EXPECT_EQ(result->start[1], (Times{3, 5, 9, 11}));
  EXPECT_EQ(result->end[1], (Times{5, 9, 11, 15}));
  EXPECT_EQ(result->makespan, 20);
  EXPECT_EQ(result->stages[0].busy, 12);
  EXPECT_EQ(result->stages[1].firstStart, 3);
  EXPECT_EQ(result->stages[1].lastEnd, 15);
  EXPECT_DOUBLE_EQ(result->bubbleMakespan, 1 - 12.0 / 20);
  EXPECT_DOUBLE_EQ(result->bubbleSpan, 1 - 12.0 / 20);
  EXPECT_EQ(result->stages[0].peakMemory, 2 * activationUnit);
  EXPECT_EQ(result->stages[1].peakMemory, activationUnit);
  EXPECT_EQ(result->memory[1],
            (std::vector<std::int64_t>{activationUnit, 0, activationUnit, 0}));
}

TEST(Simulator, TransfersCostNothingWithinAStage) {
  Problem problem = makeProblem("zb-v", 1, 2, 2, 1, 1, 1, 100);
  Expected<Schedule> schedule = generate("zb-v", problem);
  ASSERT_TRUE(schedule);
  Expected<Simulation> result = simulate(problem, *schedule);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->makespan, 12);
  EXPECT_EQ(result->bubbleMakespan, 0);
}

TEST(Simulator, NothingTakesTime) {
  Problem problem = makeProblem("1f1b", 2, 1, 2, 0, 0, 0);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  Expected<Simulation> result = simulate(problem, *schedule);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->bubbleMakespan, 0);
  EXPECT_EQ(result->bubbleSpan, 0);
}

TEST(Simulator, RefusesWhatCannotRun) {
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  std::swap(schedule->stages[1][0], schedule->stages[1][1]);
  Expected<Simulation> stuck = simulate(problem, *schedule);
  ASSERT_FALSE(stuck);
  EXPECT_EQ(stuck.error().kind, ErrorKind::Deadlock);
  schedule->stages[1].pop_back();
  Expected<Simulation> incomplete = simulate(problem, *schedule);
  ASSERT_FALSE(incomplete);
  EXPECT_EQ(incomplete.error().kind, ErrorKind::Missing);
}
