//===- WidthsTest.cpp - stages of several ranks ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Widths.h"
#include "TestUtilities.h"

#include <numeric>

using namespace veeline::schedule;

namespace {

Problem makeWide(std::string_view name, int v, int m, std::vector<int> widths) {
  Problem problem = makeProblem(name, static_cast<int>(widths.size()), v, m);
  problem.widths = std::move(widths);
  return problem;
}

/// What PipeDream's round robin says: as many microbatches in flight for each
/// rank as there are ranks from its stage on, divided among those of the stage;
/// then one forward and one backward in turn.
std::string roundRobin(const Problem &problem, int rank) {
  int stage = problem.stageOfRank(rank), w = problem.width(stage);
  int member = rank - problem.firstRankOf(stage);
  int behind = problem.ranks() - problem.firstRankOf(stage);
  std::string line;
  auto add = [&](const char *kind, int microbatch) {
    line += (line.empty() ? "" : " ") + std::string(kind) +
            std::to_string(microbatch);
  };
  int next = member;
  for (int i = member; i < problem.microbatches; i += w) {
    for (; next < std::min(problem.microbatches, i + behind); next += w)
      add("F", next);
    add("BW", i);
  }
  return line;
}

TEST(Widths, RoundRobinOfPipeDream) {
  for (std::vector<int> widths :
       {std::vector<int>{2, 1, 1}, {1, 2}, {3, 1}, {2, 2}, {1, 3, 2}, {4}})
    for (int m : {4, 5, 9, 16}) {
      Problem problem = makeWide("1f1b", 1, m, widths);
      Expected<Schedule> schedule = generate("1f1b", problem);
      ASSERT_TRUE(schedule) << schedule.error().str();
      std::vector<std::string> lines = orderLines(problem, *schedule);
      ASSERT_EQ(lines.size(), static_cast<size_t>(problem.ranks()));
      for (int rank = 0; rank < problem.ranks(); ++rank)
        EXPECT_EQ(lines[rank], roundRobin(problem, rank));
    }
}

/// Stages whose ranks have the same work keep busy all the time, but for the
/// way in and out.
TEST(Widths, RanksShareTheWork) {
  Problem problem = makeWide("1f1b", 1, 24, {3, 1});
  problem.chunks[0] = makeChunk(1, 3, 3, 3);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  Expected<Simulation> simulation = simulate(problem, *schedule);
  ASSERT_TRUE(simulation);
  ASSERT_EQ(simulation->stages.size(), 4u);
  EXPECT_EQ(simulation->stages[3].busy, 72);
  EXPECT_LE(simulation->makespan, 72 + 3 + 6 + 3);
  // Each of the three holds two microbatches, as one of two stages would.
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(simulation->stages[rank].peakMemory, 2 * activationUnit);
}

/// Every schedule, any placement and any widths: `generate` verifies what it
/// gives, and messages that block cannot deadlock either.
TEST(Widths, EverySchedule) {
  Random random = makeRandom();
  int generated = 0;
  for (int round = 0; round < 12; ++round)
    for (const Generator &generator : generators()) {
      int p = randomInt(random, 1, 3), m = randomInt(random, 4, 9);
      Problem problem = randomProblem(random, generator.name, p, m);
      problem.memoryLimits.clear();
      for (int stage = 0; stage < p; ++stage)
        problem.widths.push_back(randomInt(random, 1, 3));
      Expected<Schedule> schedule =
          generate(generator.name, problem, quickly());
      if (!schedule) {
        EXPECT_EQ(schedule.error().kind, ErrorKind::NotApplicable)
            << generator.name << ": " << schedule.error().str();
        continue;
      }
      ++generated;
      Status verified = verify(problem, *schedule);
      EXPECT_TRUE(verified) << generator.name;
      Expected<std::vector<Message>> messages =
          communicationOrder(problem, *schedule);
      ASSERT_TRUE(messages);
      Status right = verifyCommunication(problem, *schedule, *messages);
      EXPECT_TRUE(right) << generator.name;
      EXPECT_TRUE(
          simulate(problem, *schedule, {.transfers = Transfers::Rendezvous}));
    }
  EXPECT_GT(generated, 200);
}

TEST(Widths, WrongRanks) {
  Problem problem = makeWide("1f1b", 1, 4, {2, 1});
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  auto messageOf = [&](const Schedule &wrong) {
    Status status = verify(problem, wrong);
    return status ? std::string() : status.error().message;
  };
  Schedule swapped = *schedule;
  std::swap(swapped.stages[0], swapped.stages[1]);
  EXPECT_EQ(messageOf(swapped),
            "rank 0 (of stage 0), step 0: F of chunk 0, microbatch 1 belongs "
            "to rank 1 (of stage 0)");
  Schedule short1 = *schedule;
  short1.stages[1].clear();
  EXPECT_EQ(messageOf(short1),
            "rank 1 (of stage 0) never runs F of chunk 0, microbatch 1");
  Schedule few = *schedule;
  few.stages.pop_back();
  EXPECT_EQ(messageOf(few), "the schedule has 2 ranks, the problem 3");
}

TEST(Widths, Problems) {
  auto messageOf = [](Problem problem) {
    Status status = check(problem);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(messageOf(makeWide("1f1b", 1, 4, {4, 1})), "");
  Problem problem = makeWide("1f1b", 1, 4, {2, 1});
  problem.widths = {2};
  EXPECT_EQ(messageOf(problem),
            "numbers of ranks are given for 1 stage, but there are 2");
  problem.widths = {2, 0};
  EXPECT_EQ(messageOf(problem), "stage 1 has 0 ranks; a stage has at least 1");
  problem.widths = {5, 1};
  EXPECT_EQ(messageOf(problem),
            "stage 0 has 5 ranks for 4 microbatches, so that some would have "
            "nothing to do; take more microbatches or fewer ranks");
  problem.widths = {2, 1};
  limitMemory(problem, 8);
  EXPECT_EQ(messageOf(problem), "memory limits are not supported together "
                                "with stages of several ranks");
  problem.memoryLimits.clear();
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  Expected<Simulation> simulation =
      simulate(problem, *schedule, {.contention = true});
  ASSERT_FALSE(simulation);
  EXPECT_EQ(simulation.error().message,
            "messages that share links are not simulated for stages of "
            "several ranks");
}

} // namespace
