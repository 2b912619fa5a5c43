//===- RecomputeTest.cpp - recomputation ahead of the backward ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Recompute.h"

#include "../Rounds.h"
#include "RandomSchedules.h"
#include "Reference.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Offload.h"

#include <algorithm>

using namespace veeline::schedule;

/// `problem`, whose chunks keep this share of their activations, and recompute
/// the rest in the time of a forward.
static Problem withRecompute(Problem problem, double kept = 0.125) {
  for (Chunk &chunk : problem.chunks) {
    auto rest = static_cast<std::int64_t>(
        (1 - kept) * static_cast<double>(chunk.forwardMemory));
    chunk.hasRecompute = true;
    chunk.recompute = chunk.forward;
    chunk.recomputeMemory = rest;
    chunk.forwardMemory -= rest;
  }
  return problem;
}

static Solution solveBy(const char *name, const Problem &problem) {
  Expected<Schedule> schedule = generate(name, problem, quickly());
  EXPECT_TRUE(schedule) << schedule.error().str();
  Expected<Solution> solution = solve(problem, *schedule);
  EXPECT_TRUE(solution) << solution.error().str();
  return std::move(*solution);
}

/// In 1F1B with F, R, B and W of 1, the last stage alone has to run R before
/// each B that others wait for. Inside of backwards, each stage on the way
/// back adds one.
TEST(Recompute, RunsInBubbles) {
  for (int stages : {2, 4, 8}) {
    int m = 4 * stages;
    Problem problem = withRecompute(makeProblem("1f1b", stages, 1, m));
    double inside =
        solveBy("1f1b", withRecomputeInside(problem)).simulation.makespan;
    Solution ahead = solveBy("1f1b", problem);
    EXPECT_EQ(inside, 4 * (m + stages - 1));
    EXPECT_LE(ahead.simulation.makespan, inside - (stages - 1));
    // One microbatch at a time is whole.
    EXPECT_LE(ahead.simulation.peakMemory(),
              activationUnit + (stages - 1) * activationUnit / 8);
  }
}

/// Steps that do not wait for updates recompute inside of backwards.
TEST(Recompute, NotOfTheStepBefore) {
  Problem problem = withRecompute(makeProblem("pipedream-2bw", 4, 1, 8));
  problem.updates = UpdateSemantics::DoubleBuffered;
  Expected<Schedule> schedule = generate("pipedream-2bw", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().kind, ErrorKind::NotApplicable);
}

/// Every name has orders with R, no longer than with R inside.
TEST(Recompute, AllSchedules) {
  for (const Generator &generator : generators()) {
    if (generator.semantics != UpdateSemantics::Synchronous)
      continue;
    int v = std::max(1, generator.minChunksPerStage);
    std::string name(generator.name);
    Problem problem =
        withRecompute(makeProblem(name, 4, v, 12, 1.0 / v, 1.0 / v, 1.0 / v));
    double inside =
        solveBy(name.c_str(), withRecomputeInside(problem)).simulation.makespan;
    Solution ahead = solveBy(name.c_str(), problem);
    EXPECT_LE(ahead.simulation.makespan, inside + 1e-9) << name;
    EXPECT_LE(lowerBounds(problem).makespan.time,
              ahead.simulation.makespan + 1e-9)
        << name;
    EXPECT_TRUE(reference::isValid(problem, ahead.schedule)) << name;
  }
}

/// Limits hold while R has added what it adds, or the error says what would do.
TEST(Recompute, WithinLimits) {
  for (const char *name : {"1f1b", "zb-v", "auto"}) {
    int v = std::string_view(name) == "zb-v" ? 2 : 1;
    Problem problem =
        withRecompute(makeProblem(name, 4, v, 12, 1.0 / v, 1.0 / v, 1.0 / v));
    int met = 0;
    for (double limit : {0.25, 0.75, 1.25, 1.5, 2.0, 4.0}) {
      limitMemory(problem, limit);
      Expected<Schedule> schedule = generate(name, problem, quickly());
      if (schedule) {
        Status status = verify(problem, *schedule);
        EXPECT_TRUE(status) << name << limit << status.error().str();
        ++met;
        continue;
      }
      ASSERT_EQ(schedule.error().kind, ErrorKind::OutOfMemory);
      problem.memoryLimits.assign(problem.stages(),
                                  *schedule.error().leastLimit);
      EXPECT_TRUE(generate(name, problem, quickly())) << name << limit;
    }
    EXPECT_GE(met, 3) << name;
  }
}

/// Where one microbatch after the other fits, `auto` finds an order, too.
TEST(Recompute, AutoFollowsLimits) {
  Random random = makeRandom();
  int solved = 0;
  const int rounds = veeline::test::rounds(300);
  for (int round = 0; round < rounds; ++round) {
    Problem problem = randomSmallProblem(random);
    for (Chunk &chunk : problem.chunks)
      if (chunk.recomputeMemory < 0)
        chunk = chunk.withRecomputeInside();
    Schedule alone = *generate("sequential", problem);
    Simulation needed = *simulate(problem, alone);
    for (int stage = 0; stage < problem.stages(); ++stage)
      problem.memoryLimits.push_back(needed.stages[stage].peakMemory);
    Expected<Schedule> found = generate("auto", problem, quickly());
    ASSERT_TRUE(found) << "round " << round << found.error().str();
    ASSERT_LE(simulate(problem, *found)->makespan, needed.makespan + 1e-9);
    solved += hasRecompute(problem);
  }
  EXPECT_GT(solved, rounds / 3);
}

/// What is offloaded is back for R.
TEST(Recompute, WithOffloads) {
  Problem problem = withRecompute(makeProblem("gpipe", 4, 1, 8), 0.5);
  setOffload(problem, 0.25 / activationUnit, 1);
  GeneratorOptions options = quickly();
  options.offload = true;
  Expected<Schedule> schedule = generate("gpipe", problem, options);
  ASSERT_TRUE(schedule) << schedule.error().str();
  EXPECT_FALSE(schedule->offloads.empty());
  EXPECT_TRUE(runsRecompute(*schedule));
  EXPECT_TRUE(reference::isValid(problem, *schedule));
  Problem plain = problem;
  for (Chunk &chunk : plain.chunks)
    chunk.offloadMemory = 0;
  EXPECT_LT(simulate(problem, *schedule)->peakMemory(),
            solveBy("gpipe", plain).simulation.peakMemory());
}

TEST(Recompute, VerifierNamesWhatIsWrong) {
  Problem problem = withRecompute(makeProblem("gpipe", 1, 1, 1));
  auto messageOf = [&](std::vector<Op> ops) {
    Schedule schedule{"test", {std::move(ops)}};
    Status status = verify(problem, schedule);
    return status ? "" : status.error().message;
  };
  Op f{OpKind::Forward, 0, 0}, r{OpKind::Recompute, 0, 0},
      bw{OpKind::Backward, 0, 0};
  EXPECT_EQ(messageOf({f, r, bw}), "");
  EXPECT_EQ(messageOf({f, bw}),
            "stage 0 never runs R of chunk 0, microbatch 0");
  EXPECT_EQ(messageOf({f, bw, r}),
            "stage 0, step 2: R of chunk 0, microbatch 0 comes after the "
            "backward that takes it, at step 1");
  EXPECT_NE(messageOf({r, f, bw}), "");
  EXPECT_NE(messageOf({f, r, r, bw}), "");
  problem.chunks[0] = problem.chunks[0].withRecomputeInside();
  EXPECT_EQ(messageOf({f, r, bw}),
            "stage 0, step 1: R of chunk 0, microbatch 0 does not exist: what "
            "this chunk recomputes is inside of its backward");
  problem.chunks[0].recompute = 1;
  EXPECT_EQ(check(problem).error().message,
            "chunk 0 has no R, but a cost or memory for it");
}

/// The order without R.
static Schedule withoutRecompute(Schedule schedule) {
  for (std::vector<Op> &ops : schedule.stages)
    std::erase_if(ops,
                  [](const Op &op) { return op.kind == OpKind::Recompute; });
  return schedule;
}

/// Orders of any kind: what is added is valid, no longer than R right before
/// each backward, and holds no more than the limits or the worst rank did.
TEST(Recompute, RandomOrders) {
  Random random = makeRandom();
  int moved = 0, tried = 0;
  const int rounds = veeline::test::rounds(20'000);
  for (int round = 0; round < rounds; ++round) {
    Problem problem = randomSmallProblem(random);
    Schedule given = withoutRecompute(randomOrder(random, problem, true));
    bool hasBlocks = randomInt(random, 0, 1) == 0;
    if (hasBlocks)
      addBlocks(random, given);
    Problem inside = withRecomputeInside(problem);
    if (!hasRecompute(problem) || !verify(inside, given))
      continue;
    double longest = simulate(inside, given)->makespan;
    Expected<Schedule> schedule =
        addRecompute(problem, given, Objective::Makespan);
    ASSERT_TRUE(schedule) << schedule.error().str();
    ASSERT_TRUE(reference::isValid(problem, *schedule)) << "round " << round;
    Expected<Solution> solution = solve(problem, *schedule);
    ASSERT_TRUE(solution) << "round " << round << solution.error().str();
    if (!hasBlocks) {
      ASSERT_LE(solution->simulation.makespan, longest + 1e-9)
          << "round " << round;
      ASSERT_LE(lowerBounds(problem).makespan.time,
                solution->simulation.makespan + 1e-9)
          << "round " << round;
    }
    ASSERT_EQ(withoutRecompute(*schedule).stages, given.stages);
    ++tried;
    moved += solution->simulation.makespan < longest - 1e-9;
  }
  EXPECT_GT(tried, rounds / 10);
  EXPECT_GT(moved, rounds / 20);
}
