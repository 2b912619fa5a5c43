//===- ProblemTest.cpp ----------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtilities.h"
#include "veeline/Schedule/Simulator.h"

#include <cmath>
#include <functional>

using namespace veeline::schedule;

TEST(Problem, WithoutBackwardInput) {
  Chunk chunk = makeChunk(1, 2, 3, 4);
  chunk.backwardInputMemory = -10;
  chunk.backwardWeightMemory += 10;
  Chunk first = chunk.withoutBackwardInput();
  EXPECT_FALSE(first.hasBackwardInput);
  EXPECT_EQ(first.cost(OpKind::BackwardInput), 0);
  EXPECT_EQ(first.cost(OpKind::BackwardWeight), 7);
  EXPECT_EQ(first.cost(OpKind::Backward), chunk.cost(OpKind::Backward));
  EXPECT_EQ(first.memory(OpKind::BackwardWeight), -activationUnit);
  EXPECT_EQ(first.memory(OpKind::Backward), chunk.memory(OpKind::Backward));
}

/// What B and W both compute again, a fused Backward computes once.
TEST(Problem, SharedWork) {
  Chunk chunk = makeChunk(1, 2, 3, 4);
  ASSERT_EQ(chunk.cost(OpKind::Backward), 7);
  chunk.backwardShared = 2;
  EXPECT_EQ(chunk.cost(OpKind::BackwardInput), 3);
  EXPECT_EQ(chunk.cost(OpKind::BackwardWeight), 4);
  EXPECT_EQ(chunk.cost(OpKind::Backward), 5);
  EXPECT_EQ(chunk.withoutBackwardInput().cost(OpKind::BackwardWeight), 5);
  EXPECT_EQ(chunk.withoutBackwardInput().cost(OpKind::Backward), 5);

  Problem problem = makeProblem("1f1b", 2, 1, 3);
  problem.edges = chainEdges(2, 0);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  double apart = simulate(problem, *schedule)->makespan;
  for (Chunk &each : problem.chunks)
    each.backwardShared = each.backwardWeight / 2;
  EXPECT_TRUE(check(problem));
  double saved = problem.chunks[0].backwardShared;
  EXPECT_DOUBLE_EQ(simulate(problem, *schedule)->makespan, apart - 4 * saved);
}

TEST(Problem, CheckAccepts) {
  Problem problem = makeProblem("zb-v", 2, 2, 3);
  EXPECT_TRUE(check(problem));
  problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  problem.edges.push_back({0, 3, 1, 1});
  problem.edges.push_back({0, 3, 2, 2});
  limitMemory(problem, 0);
  EXPECT_TRUE(check(problem));
}

/// The error of `check` after one change to a good problem.
static std::string errorAfter(const std::function<void(Problem &)> &change) {
  Problem problem = makeProblem("zb-v", 2, 2, 3);
  problem.memoryUnit = {};
  for (Chunk &chunk : problem.chunks) {
    chunk.forwardMemory = 4;
    chunk.backwardInputMemory = -1;
    chunk.backwardWeightMemory = -3;
  }
  change(problem);
  Status status = check(problem);
  EXPECT_FALSE(status);
  if (status)
    return "";
  EXPECT_EQ(status.error().kind, ErrorKind::InvalidProblem);
  return status.error().message;
}

TEST(Problem, CheckSizes) {
  EXPECT_EQ(errorAfter([](Problem &p) { p.microbatches = 0; }),
            "a step needs at least 1 microbatch, not 0");
  EXPECT_EQ(errorAfter([](Problem &p) { p.microbatches = 1 << 25; }),
            "33554432 microbatches are more than 16777216");
  EXPECT_EQ(
      errorAfter([](Problem &p) { p = makeProblem("1f1b", 1000, 1, 1 << 20); }),
      "1000 chunks and 1048576 microbatches make more than 67108864 "
      "operations");
  EXPECT_EQ(errorAfter([](Problem &p) { p.chunks.pop_back(); }),
            "costs are given for 3 chunks, but the placement has 4");
  EXPECT_EQ(errorAfter([](Problem &p) { p.memoryLimits = {1}; }),
            "memory limits are given for 1 stage, but there are 2");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.memoryLimits = {1, -1};
            }),
            "the memory limit of stage 1 is negative: -1 B");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.memoryLimits = {maxMemory, maxMemory + 1};
            }),
            "the memory limit of stage 1 is more than 1024 PiB, the most that "
            "there may be");
  EXPECT_EQ(errorAfter([](Problem &p) { p.memoryUnit.size = 0; }),
            "the memory unit must be at least 1, not 0");
}

TEST(Problem, CheckCosts) {
  EXPECT_EQ(errorAfter([](Problem &p) { p.chunks[1].forward = -1; }),
            "chunk 1: the cost of F must be a number from 0 to 1e+30, not -1");
  EXPECT_EQ(errorAfter([](Problem &p) { p.chunks[1].forward = 1e308; }),
            "chunk 1: the cost of F must be a number from 0 to 1e+30, not "
            "1e+308");
  EXPECT_EQ(
      errorAfter([](Problem &p) { p.chunks[2].backwardWeight = std::nan(""); }),
      "chunk 2: the cost of W must be a number from 0 to 1e+30, not nan");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.chunks[1].backwardInput = 2;
              p.chunks[1].backwardWeight = 1;
              p.chunks[1].backwardShared = 1.5;
            }),
            "chunk 1: what B and W share must be a time from 0 to the lesser "
            "of their costs, 1, not 1.5");
  EXPECT_EQ(
      errorAfter([](Problem &p) { p.edges[0].backwardTransfer = INFINITY; }),
      "edge 0 -> 1: the transfer must be a number from 0 to 1e+30, not inf");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.edges.clear();
              p.chunks[0].hasBackwardInput = false;
            }),
            "chunk 0 has no backward_input, but a cost or memory for it; they "
            "belong to its W");
}

TEST(Problem, CheckMemory) {
  EXPECT_EQ(errorAfter([](Problem &p) { p.chunks[3].forwardMemory = 5; }),
            "chunk 3: F adds 5, B -1, W -3, which leaves 1 after each "
            "microbatch; the sum must be 0");
  EXPECT_EQ(
      errorAfter([](Problem &p) { p.chunks[3].backwardWeightMemory = -4; }),
      "chunk 3: F adds 4, B -1, W -4, which releases too much by 1 after "
      "each microbatch; the sum must be 0");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.chunks[3].backwardInputMemory = -5;
              p.chunks[3].backwardWeightMemory = 1;
            }),
            "chunk 3: F adds 4 and B -5, which releases memory that was never "
            "held");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.chunks[0].forwardMemory = std::int64_t(1) << 60;
            }),
            "chunk 0: the memory of F is too large to be summed over a step: "
            "1024 PiB; the most for this size is 21.334 PiB");
}

TEST(Problem, CheckEdges) {
  EXPECT_EQ(
      errorAfter([](Problem &p) {
        p.edges.push_back({2, 2});
      }),
      "edge 2 -> 2 does not lead from a chunk to a later one of 4 chunks");
  EXPECT_EQ(
      errorAfter([](Problem &p) {
        p.edges.push_back({3, 4});
      }),
      "edge 3 -> 4 does not lead from a chunk to a later one of 4 chunks");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.edges.push_back({-1, 2});
            }),
            "edge -1 -> 2 does not lead from a chunk to a later one of 4 "
            "chunks");
  EXPECT_EQ(errorAfter([](Problem &p) {
              p.chunks[1] = p.chunks[1].withoutBackwardInput();
            }),
            "edge 0 -> 1 carries a gradient, but chunk 1 has no backward_input "
            "to compute it");
}
