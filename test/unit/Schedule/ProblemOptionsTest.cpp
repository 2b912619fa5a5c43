//===- ProblemOptionsTest.cpp ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/ProblemOptions.h"

#include "gtest/gtest.h"

using namespace veeline::schedule;

TEST(ProblemOptions, OpValues) {
  Expected<OpValues> values = parseOpValues("W=9337,F=18522.5,B=-1e3");
  ASSERT_TRUE(values);
  EXPECT_EQ(values->forward, 18522.5);
  EXPECT_EQ(values->backwardInput, -1000);
  EXPECT_EQ(values->backwardWeight, 9337);
}

TEST(ProblemOptions, OpValuesWithBlanks) {
  Expected<OpValues> values = parseOpValues(" F=1, B = 2 ,\tW= -3 ");
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ(values->forward, 1);
  EXPECT_EQ(values->backwardInput, 2);
  EXPECT_EQ(values->backwardWeight, -3);
}

TEST(ProblemOptions, OpValuesErrors) {
  auto errorOf = [](const char *text) {
    Expected<OpValues> values = parseOpValues(text);
    EXPECT_FALSE(values) << text;
    return values ? "" : values.error().message;
  };
  for (auto [text, part] : {std::pair("", ""),
                            {"F", "F"},
                            {"F=", "F="},
                            {"F=1,B=2x,W=3", "B=2x"},
                            {"F=1,,B=2", ""},
                            {"G=1", "G=1"},
                            {"F=inf,B=1,W=1", "F=inf"},
                            {"F=1,B=1,W=1,", ""},
                            {"F= ,B=1,W=1", "F="},
                            {"F=1 2,B=1,W=1", "F=1 2"},
                            {" ", ""},
                            {"F:1", "F:1"}})
    EXPECT_EQ(errorOf(text),
              "expected F=<number>,B=<number>,W=<number>, found '" +
                  std::string(part) + "'");
  EXPECT_EQ(errorOf("F=1,B=2"), "W is missing in 'F=1,B=2'");
  EXPECT_EQ(errorOf("F=1,F=2"), "F is given twice in 'F=1,F=2'");
}

static Expected<Problem> zeroBubble(const ProblemOptions &changes) {
  ProblemOptions options = changes;
  options.schedule = "zb-v";
  options.stages = 2;
  options.microbatches = 4;
  return makeProblem(options);
}

TEST(ProblemOptions, AStageIsSharedByItsChunks) {
  Expected<Problem> problem = zeroBubble({.cost = {2, 4, 6}, .transfer = 5});
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->placement.kind(), PlacementKind::V);
  ASSERT_EQ(problem->chunks.size(), 4u);
  for (const Chunk &chunk : problem->chunks) {
    EXPECT_EQ(chunk.forward, 1);
    EXPECT_EQ(chunk.backwardInput, 2);
    EXPECT_EQ(chunk.backwardWeight, 3);
    EXPECT_EQ(chunk.forwardMemory, activationUnit / 2);
    EXPECT_EQ(chunk.backwardInputMemory, 0);
    EXPECT_EQ(chunk.backwardWeightMemory, -activationUnit / 2);
  }
  EXPECT_EQ(problem->edges[0].forwardTransfer, 5);
  EXPECT_EQ(problem->edges[0].backwardTransfer, 5);
  EXPECT_TRUE(problem->memoryLimits.empty());
}

TEST(ProblemOptions, CostOfOneChunk) {
  Expected<Problem> problem = zeroBubble({.chunkCost = OpValues{2, 4, 6}});
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->chunks[0].forward, 2);
}

TEST(ProblemOptions, Memory) {
  Expected<Problem> problem =
      zeroBubble({.activation = {1, -1.0 / 3, -2.0 / 3}, .memoryLimit = 1.5});
  ASSERT_TRUE(problem);
  EXPECT_EQ(*problem->memoryLimit(1), activationUnit * 3 / 2);
  EXPECT_EQ(problem->chunks[0].backwardInputMemory, -activationUnit / 6);
  EXPECT_TRUE(check(*problem));
  problem = zeroBubble({.memoryLimit = 0.0});
  ASSERT_TRUE(problem);
  EXPECT_EQ(*problem->memoryLimit(0), 0);
}

TEST(ProblemOptions, Errors) {
  auto errorOf = [](const ProblemOptions &options) {
    Expected<Problem> problem = zeroBubble(options);
    EXPECT_FALSE(problem);
    return problem ? "" : problem.error().message;
  };
  EXPECT_EQ(errorOf({.chunksPerStage = 3}),
            "schedule zb-v takes 2 chunks per stage, not 3");
  EXPECT_EQ(errorOf({.activation = {1, 0, 0}}),
            "the activation memory of F, B and W must add up to 0, not 1");
  EXPECT_EQ(errorOf({.activation = {1, -2, 1}}),
            "chunk 0: F adds 0.5 and B -1, which releases memory that was "
            "never held");
  EXPECT_EQ(errorOf({.activation = {1e12, 0, -1e12}}),
            "the activation memory of F or B is out of range");
  EXPECT_EQ(errorOf({.memoryLimit = 1e12}),
            "the memory limit is out of range: 1e+12");
  EXPECT_EQ(errorOf({.memoryLimit = -1.0}),
            "the memory limit of stage 0 is negative: -1 activations");
  EXPECT_EQ(errorOf({.cost = {-1, 1, 1}}),
            "chunk 0: the cost of F must be a number from 0 to 1e+30, not "
            "-0.5");
}
