//===- ForwardTest.cpp - the order of forwards alone ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomSchedules.h"
#include "veeline/Schedule/Generators.h"

using namespace veeline::schedule;

/// `problem` as one whose chunks have no backward.
static Problem withoutBackwards(Problem problem) {
  for (Chunk &chunk : problem.chunks) {
    Chunk forward;
    forward.forward = chunk.forward;
    forward.hasBackwardInput = false;
    chunk = forward;
  }
  for (Edge &edge : problem.edges) {
    edge.backwardTransfer = 0;
    edge.carriesGradient = false;
  }
  return problem;
}

/// All chunks are equal, and messages take no time.
static Problem equalChunks(PlacementKind kind, int p, int v, int m) {
  Chunk chunk;
  chunk.forward = 1;
  return withoutBackwards(
      uniformProblem(*Placement::get(kind, p, v), m, chunk, 0));
}

static double makespanOf(const Problem &problem) {
  Expected<Simulation> simulation = simulate(problem, forwardOrder(problem));
  EXPECT_TRUE(simulation);
  return simulation ? simulation->makespan : 0;
}

/// Stage 0 waits for nothing until its last forward, and the last microbatch
/// then goes through the other stages: no order is shorter.
TEST(Forward, IsAsShortAsCanBe) {
  for (int p : {1, 2, 3, 5, 8})
    for (int m : {1, 2, 7, 32})
      EXPECT_EQ(makespanOf(equalChunks(PlacementKind::Linear, p, 1, m)),
                m + p - 1)
          << p << " stages, " << m << " microbatches";
  for (int p : {2, 3, 5})
    for (int v : {2, 3})
      EXPECT_EQ(
          makespanOf(equalChunks(PlacementKind::Interleaved, p, v, 4 * p)),
          4 * p * v + p - 1)
          << p << " stages of " << v << " chunks";
}

/// The chunk that is furthest on goes first.
TEST(Forward, OrderOfTwoStages) {
  Schedule order =
      forwardOrder(equalChunks(PlacementKind::Interleaved, 2, 2, 4));
  std::string text;
  for (const Op &op : order.stages[0])
    if (op.kind == OpKind::Forward)
      text +=
          " " + std::to_string(op.chunk) + "." + std::to_string(op.microbatch);
  EXPECT_EQ(text, " 0.0 0.1 2.0 2.1 0.2 0.3 2.2 2.3");
}

/// Whatever the edges, costs, placement and widths are, it is a schedule in
/// which a rank waits only where nothing is there to run.
TEST(Forward, RandomProblems) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    Problem problem = withoutBackwards(randomSmallProblem(random));
    Schedule order = forwardOrder(problem);
    Status status = verify(problem, order);
    EXPECT_TRUE(status) << status.error().str();
    for (const std::vector<Op> &ops : order.stages) {
      EXPECT_TRUE(std::is_partitioned(ops.begin(), ops.end(), [](const Op &op) {
        return op.kind == OpKind::Forward;
      }));
    }
  }
}
