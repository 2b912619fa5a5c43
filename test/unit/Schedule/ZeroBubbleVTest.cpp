//===- ZeroBubbleVTest.cpp ------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtilities.h"

#include <fstream>
#include <sstream>

using namespace veeline::schedule;

using Lines = std::vector<std::string>;

static Simulation simulated(const Problem &problem,
                            Objective objective = Objective::Makespan) {
  Expected<Schedule> schedule = generate("zb-v", problem, {objective});
  EXPECT_TRUE(schedule) << schedule.error().str();
  return *simulate(problem, *schedule);
}

static double peakActivations(const Simulation &result) {
  std::int64_t peak = 0;
  for (const StageStatistics &stage : result.stages)
    peak = std::max(peak, stage.peakMemory);
  return static_cast<double>(peak) / activationUnit;
}

static Lines orderOf(const Problem &problem) {
  Expected<Schedule> schedule = generate("zb-v", problem);
  EXPECT_TRUE(schedule) << schedule.error().str();
  return schedule ? orderLines(problem, *schedule) : Lines();
}

TEST(ZeroBubbleV, Order) {
  EXPECT_EQ(orderOf(makeProblem("zb-v", 1, 2, 1)),
            (Lines{"0F0 1F0 1B0 0B0 1W0 0W0"}));
  EXPECT_EQ(orderOf(makeProblem("zb-v", 2, 2, 3)),
            (Lines{"0F0 0F1 0F2 3F0 3B0 3W0 3F1 3B1 3W1 0B0 0W0 3F2 3B2 0B1 "
                   "3W2 0B2 0W1 0W2",
                   "1F0 2F0 1F1 2F1 2B0 2W0 1F2 1B0 1W0 2F2 2B1 1B1 2B2 1B2 "
                   "2W1 1W1 2W2 1W2"}));
}

TEST(ZeroBubbleV, FirstChunkWithoutBackwardInput) {
  Problem problem = makeProblem("zb-v", 2, 2, 2);
  problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  EXPECT_EQ(orderOf(problem),
            (Lines{"0F0 0F1 3F0 3B0 3F1 3B1 3W0 3W1 0W0 0W1",
                   "1F0 2F0 1F1 2F1 2B0 1B0 2B1 1B1 2W0 1W0 2W1 1W1"}));
  EXPECT_EQ(simulated(problem).stages[0].busy, 12);
}

namespace {
struct Row {
  std::string source;
  int p, m;
  double f, b, w, transfer, bubbleSpan, bubbleMakespan, memory;
};
} // namespace

/// Rows of a table of figures; `first` is the column of p.
static std::vector<Row> readRows(const std::string &path, int nameColumn,
                                 const std::string &name, int first) {
  std::ifstream file(std::string(SCHEDULE_TEST_INPUTS "/") + path);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');)
      cells.push_back(cell);
    if (cells[nameColumn] != name)
      continue;
    auto number = [&](int column) { return std::stod(cells[first + column]); };
    rows.push_back({line, static_cast<int>(number(0)),
                    static_cast<int>(number(1)), number(2), number(3),
                    number(4), number(5), number(6), number(7), number(8)});
  }
  return rows;
}

static Problem problemOf(const Row &row) {
  Problem problem =
      makeProblem("zb-v", row.p, 2, row.m, row.f, row.b, row.w, row.transfer);
  limitMemory(problem, row.p);
  return problem;
}

// Table 8 of the zero-bubble paper: the bubble of its ZB-V, four digits.
TEST(ZeroBubbleV, PublishedTable) {
  std::vector<Row> rows = readRows("published.csv", 2, "ZB-V", 3);
  EXPECT_EQ(rows.size(), 9u);
  for (const Row &row : rows) {
    Simulation result = simulated(problemOf(row), Objective::Span);
    EXPECT_LE(result.bubbleSpan, row.bubbleSpan + 0.5e-4) << row.source;
  }
}

// By either objective, no more bubble than other implementations, in the memory
// of 1F1B.
TEST(ZeroBubbleV, FiguresOfPeers) {
  std::vector<Row> rows = readRows("peers.csv", 0, "zb-v", 2);
  EXPECT_EQ(rows.size(), 128u);
  for (const Row &row : rows) {
    Problem problem = problemOf(row);
    Simulation span = simulated(problem, Objective::Span);
    EXPECT_LE(span.bubbleSpan, row.bubbleSpan + 0.5e-6) << row.source;
    EXPECT_LE(peakActivations(span), row.memory) << row.source;
    Simulation makespan = simulated(problem, Objective::Makespan);
    EXPECT_LE(makespan.bubbleMakespan, row.bubbleMakespan + 0.5e-6)
        << row.source;
    EXPECT_LE(peakActivations(makespan), row.memory) << row.source;
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
      for (double limit = 1; limit <= p + 1; limit += 0.5) {
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
  for (int round = 0; round < 300; ++round) {
    Problem problem = randomProblem(random, "zb-v", randomInt(random, 1, 8),
                                    randomInt(random, 1, 24));
    problem.memoryLimits.clear();
    Simulation makespan = simulated(problem, Objective::Makespan);
    Simulation span = simulated(problem, Objective::Span);
    EXPECT_LE(makespan.makespan, span.makespan);
    auto longest = [](const Simulation &result) {
      double longest = 0;
      for (const StageStatistics &stage : result.stages)
        longest = std::max(longest, stage.lastEnd - stage.firstStart);
      return longest;
    };
    EXPECT_LE(longest(span), longest(makespan));
  }
}
