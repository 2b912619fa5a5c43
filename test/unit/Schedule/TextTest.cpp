//===- TextTest.cpp -------------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "TestUtilities.h"

#include <sstream>

using namespace veeline::schedule;

namespace {
struct Solved {
  Problem problem;
  Schedule schedule;
  Simulation simulation;
};
} // namespace

static Solved solve(std::string_view name, const Problem &problem) {
  Expected<Schedule> schedule = generate(name, problem, quickly());
  EXPECT_TRUE(schedule) << name << schedule.error().str();
  Expected<Simulation> simulation = simulate(problem, *schedule);
  EXPECT_TRUE(simulation);
  return {problem, *schedule, *simulation};
}

static std::size_t longestLine(const std::string &text) {
  std::stringstream stream(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(stream, line);)
    longest = std::max(longest, line.size());
  return longest;
}

TEST(Text, OrderTableWraps) {
  Solved solved = solve("1f1b", makeProblem("1f1b", 2, 1, 3));
  EXPECT_EQ(orderTable(solved.problem, solved.schedule, 80),
            "stage 0: F0  F1  BW0 F2  BW1 BW2\n"
            "stage 1: F0  BW0 F1  BW1 F2  BW2\n");
  EXPECT_EQ(orderTable(solved.problem, solved.schedule, 25),
            "stage 0: F0  F1  BW0 F2\n"
            "stage 1: F0  BW0 F1  BW1\n"
            "\n"
            "stage 0: BW1 BW2\n"
            "stage 1: F2  BW2\n");
}

TEST(Text, TimelineShowsNamesAndWaiting) {
  Solved solved = solve("1f1b", makeProblem("1f1b", 2, 1, 2));
  EXPECT_EQ(timeline(solved.problem, solved.schedule, solved.simulation, 45),
            "time 0 to 9\n"
            "stage 0: F0--F1--........BW0-----....BW1-----\n"
            "stage 1: ....F0--BW0-----F1--BW1-----........\n");
}

/// F1 runs together with a whole backward of microbatch 0, on two stages.
static Solved blocks() {
  Problem problem = makeProblem("1f1b", 2, 1, 3);
  problem.overlap = 1;
  Expected<Schedule> schedule = generate("1f1b", problem);
  EXPECT_TRUE(schedule);
  // Stage 0 has F0 F1 BW0 F2 BW1 BW2, stage 1 F0 BW0 F1 BW1 F2 BW2.
  schedule->overlapped = {{2}, {1, 3}};
  EXPECT_TRUE(verify(problem, *schedule));
  Expected<Simulation> simulation = simulate(problem, *schedule);
  EXPECT_TRUE(simulation);
  return {problem, *schedule, *simulation};
}

// A block is one cell that names both of its operations.
TEST(Text, Blocks) {
  Solved solved = blocks();
  EXPECT_EQ(orderTable(solved.problem, solved.schedule, 80),
            "stage 0: F0     F1     BW0+F2 BW1    BW2\n"
            "stage 1: F0     BW0+F1 BW1+F2 BW2\n");
  EXPECT_EQ(timeline(solved.problem, solved.schedule, solved.simulation, 57),
            "time 0 to 12\n"
            "stage 0: F0--F1--........BW0+F2--........BW1-----BW2-----\n"
            "stage 1: ....F0--BW0+F1--........BW1+F2--BW2-----........\n");
}

// A block whose name does not fit shows letters; if these do not fit either,
// one sign.
TEST(Text, NarrowBlocks) {
  Problem problem = makeProblem("dualpipe-v", 8, 2, 16);
  GeneratorOptions options = quickly();
  options.overlapBlocks = true;
  Expected<Schedule> schedule = generate("dualpipe-v", problem, options);
  ASSERT_TRUE(schedule) << schedule.error().str();
  Expected<Simulation> simulation = simulate(problem, *schedule);
  ASSERT_TRUE(simulation);
  std::string text = timeline(problem, *schedule, *simulation, 100);
  EXPECT_NE(text.find("f+B"), std::string::npos) << text;
  EXPECT_NE(text.find("F+b"), std::string::npos) << text;
  EXPECT_NE(text.find('&'), std::string::npos) << text;
  EXPECT_NE(text.find("& a block"), std::string::npos) << text;
  EXPECT_LE(longestLine(text), 100u);
}

TEST(Text, NarrowCellsShowKinds) {
  Solved solved = solve("zb-v", makeProblem("zb-v", 16, 2, 16));
  std::string text =
      timeline(solved.problem, solved.schedule, solved.simulation, 200);
  EXPECT_LE(longestLine(text), 200u);
  // Every F of the second chunk of stage 0, a column each.
  std::stringstream stream(text);
  std::string header, row;
  std::getline(stream, header);
  std::getline(stream, row);
  EXPECT_EQ(header, "time 0 to 111");
  EXPECT_EQ(std::count(row.begin(), row.end(), 'f'), 16);
  EXPECT_EQ(std::count(row.begin(), row.end(), 'F'), 16);
  EXPECT_EQ(std::count(row.begin(), row.end(), 'W'), 16);
}

TEST(Text, LongStepsAreSampled) {
  Solved solved = solve("gpipe", makeProblem("gpipe", 32, 1, 512));
  std::string text =
      timeline(solved.problem, solved.schedule, solved.simulation, 80);
  EXPECT_NE(text.find("too long to show every operation"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 34);
  EXPECT_TRUE(text.ends_with("\nlegend: F, B (for BW), W; a column shows what "
                             "runs in its middle; . waits\n"))
      << text;
  EXPECT_LE(longestLine(text), 80u);
}

TEST(Text, Legend) {
  auto legendOf = [](const char *name, int p, int v, int m, int width) {
    Solved solved = solve(name, makeProblem(name, p, v, m));
    std::string text =
        timeline(solved.problem, solved.schedule, solved.simulation, width);
    EXPECT_LE(longestLine(text), static_cast<std::size_t>(width));
    std::size_t begin = text.find("legend: ");
    return begin == text.npos ? "" : text.substr(begin);
  };
  EXPECT_EQ(legendOf("1f1b", 2, 1, 2, 60), "");
  EXPECT_EQ(legendOf("zb-v", 16, 2, 16, 200),
            "legend: F, B, W; lower case: the stage's second chunk; . waits\n");
  EXPECT_EQ(legendOf("zb-v", 16, 2, 160, 60),
            "legend: F, B, W; lower case: the stage's second chunk; a\n"
            "        column shows what runs in its middle; . waits\n");
  EXPECT_NE(legendOf("interleaved-1f1b", 16, 3, 32, 200)
                .find("; lower case: the stage's second of 3 chunks;"),
            std::string::npos);
  EXPECT_NE(legendOf("interleaved-1f1b", 16, 4, 32, 200)
                .find("; lower case: the stage's 2nd, 4th, ... of 4 chunks;"),
            std::string::npos);
}

TEST(Text, WidthIsKept) {
  Random random = makeRandom();
  for (int round = 0; round < veeline::test::rounds(200, 4); ++round) {
    const Generator &generator =
        generators()[randomInt(random, 0, generators().size() - 1)];
    int p = randomInt(random, 1, 12);
    Problem problem =
        randomProblem(random, generator.name, p, p * randomInt(random, 1, 4));
    problem.memoryLimits.clear();
    Solved solved = solve(generator.name, problem);
    int width = randomInt(random, 100, 200);
    for (View view : {View::Timeline, View::Order, View::Summary}) {
      std::string text = toText(solved.problem, solved.schedule,
                                solved.simulation, {view, width});
      EXPECT_LE(longestLine(text), static_cast<std::size_t>(width));
      for (char c : text)
        EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
    }
  }
}

TEST(Text, NothingTakesTime) {
  Solved solved = solve("1f1b", makeProblem("1f1b", 2, 1, 2, 0, 0, 0));
  EXPECT_EQ(timeline(solved.problem, solved.schedule, solved.simulation, 80),
            "");
}

TEST(Text, Summary) {
  Problem problem = makeProblem("1f1b", 2, 1, 2, 1, 1, 1, 0.5);
  limitMemory(problem, 2.5);
  Solved solved = solve("1f1b", problem);
  EXPECT_EQ(
      summary(solved.problem, solved.schedule, solved.simulation,
              {.generatorSeconds = 0.00125, .processorSeconds = 0.0005}),
      "1f1b: 2 stages of 1 chunk (placement linear), 2 microbatches\n"
      "makespan          10\n"
      "bubble            0.4000  (worst stage, of the makespan)\n"
      "bubble of span    0.4000  (worst stage, its own first to last "
      "operation)\n"
      "steady            0.4000  (worst stage, steps without a barrier, 10 "
      "each)\n"
      "peak memory       2 activations  (worst stage)\n"
      "generated in      1.25 ms  (0.50 ms of a processor)\n"
      "\n"
      "stage  busy  bubble  bubble of span  peak memory (activations)  limit\n"
      "    0     6  0.4000          0.4000                          2    2.5\n"
      "    1     6  0.4000          0.0000                          1    "
      "2.5\n");
}

// Bytes have the unit that suits them; what is needed is never rounded down.
TEST(Text, Bytes) {
  Problem problem = makeProblem("1f1b", 1, 1, 1);
  auto peakOf = [&](std::int64_t bytes, MemoryUnit unit) {
    problem.chunks[0].forwardMemory = bytes;
    problem.chunks[0].backwardWeightMemory = -bytes;
    problem.memoryUnit = std::move(unit);
    Schedule schedule = *generate("1f1b", problem);
    std::string text = summary(problem, schedule, *simulate(problem, schedule));
    std::size_t begin = text.find("peak memory       ") + 18;
    return text.substr(begin, text.find("  (worst", begin) - begin);
  };
  EXPECT_EQ(peakOf(768, {1, "B"}), "768 B");
  EXPECT_EQ(peakOf(1536, {1, "B"}), "1.5 KiB");
  EXPECT_EQ(peakOf(12345 * 1024, {1 << 10, "KiB"}), "12.056 MiB");
  EXPECT_EQ(peakOf(std::int64_t(3) << 30, {1 << 20, "MiB"}), "3 GiB");
  EXPECT_EQ(peakOf((1 << 20) - 1, {1, "B"}), "1 MiB");
  EXPECT_EQ(peakOf((1 << 20) + 1, {1, "B"}), "1.0001 MiB");
  EXPECT_EQ(peakOf(5, {1, "slots"}), "5 slots");
}
