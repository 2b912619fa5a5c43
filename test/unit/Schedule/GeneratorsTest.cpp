//===- GeneratorsTest.cpp - order tables, closed forms, the registry ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "TestUtilities.h"

using namespace veeline::schedule;

TEST(Generators, SequentialOrder) {
  EXPECT_EQ(orderOf("sequential", 2, 1, 2),
            (Lines{"F0 BW0 F1 BW1", "F0 BW0 F1 BW1"}));
  EXPECT_EQ(orderOf("sequential", 2, 2, 1),
            (Lines{"0F0 2F0 2BW0 0BW0", "1F0 3F0 3BW0 1BW0"}));
}

TEST(Generators, SequentialTakesEveryPlacement) {
  for (PlacementKind kind :
       {PlacementKind::Interleaved, PlacementKind::V, PlacementKind::Wave}) {
    Problem problem = uniformProblem(*Placement::get(kind, 3, 2), 4,
                                     makeChunk(2, 1, 1, 1), 0);
    Simulation result = simulated("sequential", problem);
    EXPECT_EQ(result.makespan, 4 * 6 * 3);
    for (const StageStatistics &stage : result.stages)
      EXPECT_EQ(stage.peakMemory, activationUnit);
  }
}

TEST(Generators, GPipeOrder) {
  EXPECT_EQ(orderOf("gpipe", 2, 1, 3),
            (Lines{"F0 F1 F2 BW0 BW1 BW2", "F0 F1 F2 BW0 BW1 BW2"}));
}

TEST(Generators, OneForwardOneBackwardOrder) {
  EXPECT_EQ(orderOf("1f1b", 3, 1, 4),
            (Lines{"F0 F1 F2 BW0 F3 BW1 BW2 BW3", "F0 F1 BW0 F2 BW1 F3 BW2 BW3",
                   "F0 BW0 F1 BW1 F2 BW2 F3 BW3"}));
  EXPECT_EQ(orderOf("1f1b", 3, 1, 1), (Lines{"F0 BW0", "F0 BW0", "F0 BW0"}));
}

TEST(Generators, InterleavedOrder) {
  EXPECT_EQ(orderOf("interleaved-1f1b", 2, 2, 2),
            (Lines{"0F0 0F1 2F0 2F1 2BW0 2BW1 0BW0 0BW1",
                   "1F0 1F1 3F0 3BW0 3F1 3BW1 1BW0 1BW1"}));
  EXPECT_EQ(orderOf("interleaved-1f1b", 2, 2, 4),
            (Lines{"0F0 0F1 2F0 2F1 0F2 2BW0 0F3 2BW1 2F2 0BW0 2F3 0BW1 2BW2 "
                   "2BW3 0BW2 0BW3",
                   "1F0 1F1 3F0 3BW0 3F1 3BW1 1F2 1BW0 1F3 1BW1 3F2 3BW2 3F3 "
                   "3BW3 1BW2 1BW3"}));
  EXPECT_EQ(orderOf("interleaved-1f1b", 1, 2, 2),
            (Lines{"0F0 1F0 1BW0 0F1 0BW0 1F1 1BW1 0BW1"}));
}

TEST(Generators, MemoryLimitOfAFixedOrder) {
  Problem problem = makeProblem("gpipe", 2, 1, 8);
  limitMemory(problem, 3);
  Expected<Schedule> schedule = generate("gpipe", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().kind, ErrorKind::OutOfMemory);
  EXPECT_EQ(schedule.error().leastLimit, 8 * activationUnit);
  EXPECT_EQ(schedule.error().message,
            "stage 0, step 3: F of chunk 0, microbatch 3 exceeds the memory "
            "limit of 3 activations; this order of the stage needs 8 "
            "activations; a schedule that follows costs and limits (auto) can "
            "go down to 1 activation");
  limitMemory(problem, 8);
  EXPECT_TRUE(generate("gpipe", problem));
}

TEST(Generators, UnknownName) {
  Expected<const Generator *> generator = findGenerator("zbv");
  ASSERT_FALSE(generator);
  EXPECT_EQ(generator.error().kind, ErrorKind::UnknownSchedule);
  EXPECT_EQ(generator.error().message.find(
                "unknown schedule 'zbv'; did you mean 'zb-v'? Known schedules "
                "are sequential, gpipe, 1f1b, "),
            0u);
  EXPECT_EQ(findGenerator("").error().kind, ErrorKind::UnknownSchedule);
  EXPECT_NE(findGenerator("1F1B").error().message.find("did you mean '1f1b'?"),
            std::string::npos);
  // Nothing near: no suggestion.
  for (std::string name : {"", "nosuch"})
    EXPECT_EQ(findGenerator(name).error().message.find(
                  "unknown schedule '" + name +
                  "'; known schedules are sequential, gpipe, "),
              0u);
  EXPECT_NE(findGenerator("interleved-1f1b")
                .error()
                .message.find("did you mean 'interleaved-1f1b'?"),
            std::string::npos);
  EXPECT_FALSE(placementFor("pipe", 2, 1));
  EXPECT_FALSE(generate("pipe", makeProblem("1f1b", 2, 1, 2)));
}

TEST(Generators, ChunksPerStage) {
  auto errorOf = [](std::string_view name, int v) {
    Expected<Placement> placement = placementFor(name, 2, v);
    EXPECT_FALSE(placement);
    EXPECT_EQ(placement.error().kind, ErrorKind::NotApplicable);
    return placement.error().message;
  };
  EXPECT_EQ(errorOf("1f1b", 2), "schedule 1f1b takes 1 chunk per stage, not 2");
  EXPECT_EQ(
      errorOf("interleaved-1f1b", 1),
      "schedule interleaved-1f1b takes 2 or more chunks per stage, not 1");
  EXPECT_EQ(errorOf("zb-v", 3),
            "schedule zb-v takes 2 chunks per stage, not 3");
}

TEST(Generators, WrongPlacement) {
  Problem problem = makeProblem("interleaved-1f1b", 2, 2, 2);
  Expected<Schedule> schedule = generate("zb-v", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().message,
            "schedule zb-v is made for placement v, where chunk 2 is on stage "
            "1; here it is on stage 0");
  // The same placement under another name is the same placement.
  problem.placement = *Placement::get(PlacementKind::Wave, 2, 2);
  EXPECT_TRUE(generate("zb-v", problem));
}

TEST(Generators, BadProblem) {
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  problem.microbatches = 0;
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().kind, ErrorKind::InvalidProblem);
}

TEST(Generators, RegistryIsConsistent) {
  for (const Generator &generator : generators()) {
    int v = generator.minChunksPerStage;
    Problem problem = makeProblem(generator.name, 2, v, 2);
    Expected<Schedule> schedule = generate(generator.name, problem, quickly());
    ASSERT_TRUE(schedule) << generator.name;
    EXPECT_EQ(schedule->name, generator.name);
    bool splits = false;
    for (const std::vector<Op> &ops : schedule->stages)
      for (const Op &op : ops)
        splits |= op.kind == OpKind::BackwardWeight;
    EXPECT_EQ(splits, generator.splitsBackward) << generator.name;
    EXPECT_FALSE(generator.paper.empty());
    EXPECT_FALSE(generator.summary.empty());
  }
}

// Figures of other implementations of 1F1B and its interleaved form: the order
// is fixed, so the simulator has to give the same numbers.
TEST(Generators, FiguresOfPeers) {
  for (const char *name : {"1f1b", "interleaved-1f1b"}) {
    std::vector<Figures> rows = readFigures("peers.csv", name);
    EXPECT_EQ(rows.size(), 64u);
    for (const Figures &row : rows) {
      int v = (**findGenerator(name)).minChunksPerStage;
      Simulation result = simulated(name, row.problem(name, v));
      EXPECT_NEAR(result.bubbleSpan, row.bubbleSpan, 1e-6) << row.line;
      EXPECT_NEAR(result.bubbleMakespan, row.bubbleMakespan, 1e-6) << row.line;
      EXPECT_NEAR(peakActivations(result), row.peak, 1e-9) << row.line;
    }
  }
}

/// Problems on which choices differ: those with uneven chunks most.
static std::vector<Problem> problemsFor(const Generator &generator) {
  std::vector<Problem> problems;
  int v = generator.maxChunksPerStage == 1 ? 1 : 2;
  for (int p : {2, 5})
    for (int m : {p, 2 * p + 1})
      for (int period : {1, 3}) {
        Problem problem = makeProblem(generator.name, p, v, m, 2, 5, 1, 0.5);
        for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
          problem.chunks[chunk].forward *= 1 + chunk % period;
        problem.overlap = 1;
        problems.push_back(std::move(problem));
      }
  return problems;
}

// The registry says which options a schedule looks at; the command line rejects
// the others.
TEST(Generators, OptionsThatMakeADifference) {
  const GeneratorOptions quick{.searchSeconds = 0.002};
  GeneratorOptions span = quick, blocks = quick, search = quick;
  span.objective = Objective::Span;
  blocks.overlapBlocks = true;
  search.searchSeconds = 0.004;
  search.seed = 5;
  for (const Generator &generator : generators()) {
    bool hasObjective = false, pairsBlocks = false, searches = false;
    for (const Problem &problem : problemsFor(generator)) {
      auto resultOf = [&](const GeneratorOptions &options) {
        Expected<Schedule> schedule =
            generate(generator.name, problem, options);
        return schedule ? std::pair(schedule->stages, schedule->overlapped)
                        : std::pair<decltype(schedule->stages),
                                    decltype(schedule->overlapped)>();
      };
      auto usual = resultOf(quick);
      hasObjective |= resultOf(span) != usual;
      pairsBlocks |= resultOf(blocks) != usual;
      searches |= resultOf(search) != usual;
    }
    EXPECT_EQ(pairsBlocks, generator.pairsBlocks) << generator.name;
    // Not every choice differs on a few small problems.
    EXPECT_TRUE(generator.hasObjective || !hasObjective) << generator.name;
    EXPECT_TRUE(generator.searches || !searches) << generator.name;
  }
}
