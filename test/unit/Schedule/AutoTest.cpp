//===- AutoTest.cpp - the schedule that is searched -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Auto.h"

#include "../Rounds.h"
#include "Reference.h"
#include "TestUtilities.h"
#include "veeline/Schedule/Bounds.h"

#include <chrono>
#include <ctime>

using namespace veeline::schedule;

static Problem onV(int p, int m, double f, double b, double w, double transfer,
                   double limit) {
  Problem problem = makeProblem("zb-v", p, 2, m, f, b, w, transfer);
  limitMemory(problem, limit);
  return problem;
}

static Simulation solved(const Problem &problem,
                         const GeneratorOptions &options) {
  Expected<Schedule> schedule = generate("auto", problem, options);
  if (!schedule) {
    ADD_FAILURE() << schedule.error().str();
    return {};
  }
  EXPECT_TRUE(reference::isValid(problem, *schedule));
  return *simulate(problem, *schedule);
}

static double scoreOf(const Simulation &simulation, Objective objective) {
  if (objective == Objective::Makespan)
    return simulation.makespan;
  return simulation.bubbleSpan;
}

// Bubbles that annealing of other generators' schedules reaches.
TEST(Auto, MakespanBubbles) {
  Simulation first = solved(onV(8, 8, 14859, 14722, 9964, 527, 8), {});
  EXPECT_LE(first.bubbleMakespan, 0.1598);
  Simulation second = solved(onV(4, 4, 1000, 1000, 1000, 1, 4), {});
  EXPECT_LE(second.bubbleMakespan, 0.11145);
  Simulation third = solved(onV(4, 8, 9261, 9043, 4669, 601, 4), {});
  EXPECT_LE(third.bubbleMakespan, 0.08345);
}

// Reaches what the lower bounds prove to be the least, with many stages and in
// little time.
TEST(Auto, ReachesTheMemoryBoundOfMakespan) {
  if (searchesAreSlow)
    GTEST_SKIP() << "what is found in a time, which a sanitizer multiplies";
  for (int p : {4, 8, 16}) {
    Problem problem = onV(p, 2 * p, 9458, 9748, 7288, 879, p);
    EXPECT_NEAR(solved(problem, {}).makespan,
                lowerBounds(problem).makespan.time, 1e-3);
  }
}

// Beyond the 2p activations of zb-2p, its heuristic gains where W is short.
TEST(Auto, UsesAllTheMemoryOnOneChunk) {
  Problem problem = makeProblem("zb-2p", 32, 1, 96, 37044, 36172, 18674, 601);
  limitMemory(problem, 96);
  Simulation result = solved(problem, {Objective::Span, false, 0.05});
  EXPECT_LE(result.bubbleSpan, 0.056972);
  EXPECT_GT(simulate(problem, *generate("zb-2p", problem, {Objective::Span}))
                ->bubbleSpan,
            0.1);
}

TEST(Auto, SpanBubblesInLittleMemory) {
  struct {
    double limit, bubble;
  } cases[] = {{7, 0.0500}, {6, 0.1033}, {5, 0.1510}, {4, 0.2007}, {3, 0.3}};
  for (auto [limit, bubble] : cases) {
    if (!veeline::test::isLong() && int(limit) % 2 == 0)
      continue;
    Simulation result =
        solved(onV(8, 16, 1000, 1000, 1000, 1, limit), {Objective::Span});
    EXPECT_LE(result.bubbleSpan, bubble) << limit;
  }
}

// With B = 2F, stage 7 starts after 7(F+c), can run 16F with the memory of 8
// activations, waits 7F+14c until the first B comes, and at the end leaves at
// most 16W for the time in which its last B goes down to stage 0: together
// 7(F+c) + 16·8F + 7F+14c - 16W + 7(B+c) + W, which the search reaches.
TEST(Auto, ReachesTheMemoryBoundOfSpan) {
  Simulation result =
      solved(onV(8, 16, 1000, 2000, 1000, 50, 8), {Objective::Span});
  EXPECT_NEAR(result.bubbleSpan, 1 - 128000.0 / 142400, 1e-9);
  EXPECT_NEAR(
      lowerBounds(onV(8, 16, 1000, 2000, 1000, 50, 8)).stages[0].span.time,
      142400, 1e-6);
}

// Optima that a solver proved (Inputs/optimum.py under test/Schedule).
TEST(Auto, RecordedOptima) {
  struct {
    int p, m, v;
    double f, b, w, transfer;
    int chunks;
    double makespan;
  } cases[] = {
      {2, 2, 2, 1, 1, 1, 0, 4, 13}, {2, 3, 2, 3, 4, 2, 1, 4, 62},
      {2, 4, 2, 3, 4, 2, 1, 4, 80}, {2, 4, 1, 3, 3, 2, 1, 2, 40},
      {3, 3, 2, 1, 1, 1, 0, 6, 20}, {3, 3, 1, 3, 4, 2, 1, 3, 41},
      {3, 4, 1, 3, 4, 2, 1, 3, 54}, {2, 6, 1, 3, 4, 2, 1, 2, 63},
      {3, 6, 1, 3, 4, 2, 1, 3, 72}, {3, 6, 1, 2, 2, 1, 1, 2, 56},
      {2, 3, 2, 3, 4, 2, 1, 3, 73}, {2, 3, 2, 2, 4, 1, 1, 2, 73},
      {3, 3, 2, 3, 4, 2, 1, 6, 70}, {3, 3, 2, 2, 3, 1, 1, 4, 65},
  };
  for (const auto &c : cases) {
    Problem problem =
        makeProblem("auto", c.p, c.v, c.m, c.f, c.b, c.w, c.transfer);
    limitMemory(problem, double(c.chunks) / c.v);
    Simulation result = solved(problem, {.searchSeconds = 0.2});
    EXPECT_EQ(result.makespan, c.makespan)
        << "p=" << c.p << " m=" << c.m << " v=" << c.v;
  }
}

TEST(Auto, NeverWorseThanTheOthers) {
  Random random = makeRandom();
  int compared = 0;
  for (int round = 0; round < 120; ++round) {
    const Generator &other =
        generators()[randomInt(random, 0, generators().size() - 1)];
    // What slips into the next step is worth nothing to a step alone.
    if (other.name == "auto" || other.slips ||
        other.semantics != UpdateSemantics::Synchronous)
      continue;
    Problem problem = randomProblem(random, other.name, randomInt(random, 1, 5),
                                    randomInt(random, 1, 10));
    GeneratorOptions options;
    options.objective =
        randomInt(random, 0, 1) ? Objective::Makespan : Objective::Span;
    options.searchSeconds = 0.002;
    Expected<Schedule> theirs = generate(other.name, problem, options);
    if (!theirs)
      continue;
    Simulation ours = solved(problem, options);
    double their = scoreOf(*simulate(problem, *theirs), options.objective);
    EXPECT_LE(scoreOf(ours, options.objective), their + 1e-9) << other.name;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

/// The larger share of the time that a search may take, by either clock.
static double shareOfTime(std::clock_t processor,
                          std::chrono::steady_clock::time_point wall,
                          double budget) {
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - wall;
  double spent = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  return std::max(spent / (2 * budget), elapsed.count() / (4 * budget));
}

// Holds unless the machine is too slow for the budget.
TEST(Auto, SameSeedSameSchedule) {
  Problem problem = onV(4, 6, 5, 7, 3, 1, 3);
  GeneratorOptions options{.searchSeconds = 0.2, .seed = 5};
  std::vector<Schedule> schedules;
  for (int run = 0; run < 2; ++run) {
    std::clock_t processor = std::clock();
    auto wall = std::chrono::steady_clock::now();
    schedules.push_back(*generate("auto", problem, options));
    if (shareOfTime(processor, wall, options.searchSeconds) > 0.9)
      GTEST_SKIP() << "this machine is too slow or too busy";
  }
  EXPECT_EQ(schedules[0].stages, schedules[1].stages);
}

TEST(Auto, RefusesALimitBelowOneMicrobatch) {
  Problem problem = onV(3, 4, 1, 1, 1, 0, 2);
  problem.memoryLimits[1] = activationUnit - 1;
  Expected<Schedule> schedule = generate("auto", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().kind, ErrorKind::OutOfMemory);
  EXPECT_EQ(schedule.error().stage, 1);
  EXPECT_EQ(schedule.error().leastLimit, activationUnit);
  problem.memoryLimits[1] = activationUnit;
  EXPECT_TRUE(generate("auto", problem, {.searchSeconds = 0.01}));
}

// A fused backward does not hold the memory that its B adds.
TEST(Auto, FusesWhereSplitBackwardsDoNotFit) {
  Problem problem = makeProblem("auto", 2, 1, 3);
  for (Chunk &chunk : problem.chunks) {
    chunk.forwardMemory = 2;
    chunk.backwardInputMemory = 1;
    chunk.backwardWeightMemory = -3;
  }
  problem.memoryLimits = {2, 2};
  Expected<Schedule> schedule = generate("auto", problem);
  ASSERT_TRUE(schedule) << schedule.error().str();
  EXPECT_EQ(schedule->stages[0][1].kind, OpKind::Backward);
  problem.memoryLimits = {2, 1};
  Expected<Schedule> none = generate("auto", problem);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().stage, 1);
  EXPECT_EQ(none.error().leastLimit, 2);
}

// The B of the second chunk may not run while two microbatches hold the first.
TEST(Auto, BackwardsThatAddMemoryKeepTheLimit) {
  Problem problem = onV(1, 9, 2, 2, 2, 0, 1);
  problem.chunks[0].forwardMemory = 4;
  problem.chunks[0].backwardInputMemory = -4;
  problem.chunks[0].backwardWeightMemory = 0;
  problem.chunks[1].forwardMemory = 2;
  problem.chunks[1].backwardInputMemory = 2;
  problem.chunks[1].backwardWeightMemory = -4;
  for (std::int64_t limit = 8; limit <= 20; ++limit) {
    problem.memoryLimits = {limit};
    solved(problem, {.searchSeconds = 0.01});
  }
}

TEST(Auto, TakesEveryPlacement) {
  Placement list = *Placement::fromList(2, {1, 0, 0, 1, 1, 0});
  Problem problem = uniformProblem(list, 5, makeChunk(3, 2, 3, 1), 0.5);
  problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  problem.edges.push_back({0, 4, 1, 1, false});
  limitMemory(problem, 2);
  Simulation result = solved(problem, {.searchSeconds = 0.05});
  EXPECT_LT(result.makespan,
            simulate(problem, *generate("sequential", problem))->makespan);
}

TEST(Auto, MoreMemoryIsNotWorse) {
  Problem problem = makeProblem("zb-v", 4, 2, 8, 3, 4, 2, 1);
  std::vector<std::int64_t> limits{activationUnit / 2};
  for (int half = 2; half <= 8; ++half)
    limits.push_back(half * activationUnit / 2);
  std::vector<Expected<Schedule>> schedules =
      autoForLimits(problem, limits, {.searchSeconds = 0.05});
  ASSERT_EQ(schedules.size(), limits.size());
  EXPECT_FALSE(schedules[0]);
  double before = 1e9;
  for (std::size_t i = 1; i < limits.size(); ++i) {
    ASSERT_TRUE(schedules[i]);
    problem.memoryLimits.assign(4, limits[i]);
    EXPECT_TRUE(reference::isValid(problem, *schedules[i]));
    double makespan = simulate(problem, *schedules[i])->makespan;
    EXPECT_LE(makespan, before);
    before = makespan;
  }
}

// A solver's result for more memory is not taken if it is worse, or nothing.
TEST(Auto, SolutionsForLimits) {
  const char *names[] = {"zb-v", "zb-v", "sequential", "nosuch", "zb-v"};
  std::vector<std::int64_t> limits;
  for (int limit = 0; limit < 5; ++limit)
    limits.push_back(limit * activationUnit);
  int calls = 0;
  auto solve = [&](std::int64_t limit) -> Expected<Solution> {
    Problem problem = makeProblem("zb-v", 4, 2, 8);
    problem.memoryLimits.assign(4, limit);
    Expected<Schedule> schedule = generate(names[calls++], problem);
    if (!schedule)
      return schedule.takeError();
    return veeline::schedule::solve(problem, std::move(*schedule));
  };
  std::vector<Expected<Solution>> solutions =
      solveForLimits(limits, Objective::Makespan, solve);
  ASSERT_EQ(solutions.size(), 5u);
  EXPECT_FALSE(solutions[0]);
  for (int i = 1; i < 5; ++i) {
    ASSERT_TRUE(solutions[i]);
    EXPECT_EQ(solutions[i]->problem.memoryLimit(0), limits[i]);
    EXPECT_TRUE(verify(solutions[i]->problem, solutions[i]->schedule));
  }
  EXPECT_EQ(solutions[2]->schedule.stages, solutions[1]->schedule.stages);
  EXPECT_EQ(solutions[3]->schedule.stages, solutions[1]->schedule.stages);
  EXPECT_LT(solutions[4]->simulation.makespan,
            solutions[1]->simulation.makespan);
}

// The dial of a span turns by the longest one, not by the worst bubble: stage 1
// has little to do, and 1F1B keeps it longer.
TEST(Auto, LimitsCompareTheLongestSpan) {
  const char *names[] = {"gpipe", "1f1b"};
  int calls = 0;
  auto solve = [&](std::int64_t limit) -> Expected<Solution> {
    Problem problem = makeProblem("1f1b", 2, 1, 4, 10, 10, 10);
    problem.chunks[1] = makeChunk(1, 1, 1, 1);
    problem.memoryLimits.assign(2, limit);
    Expected<Schedule> schedule = generate(names[calls++], problem);
    if (!schedule)
      return schedule.takeError();
    return veeline::schedule::solve(problem, std::move(*schedule));
  };
  std::vector<Expected<Solution>> solutions = solveForLimits(
      {4 * activationUnit, 5 * activationUnit}, Objective::Span, solve);
  ASSERT_TRUE(solutions[0]);
  ASSERT_TRUE(solutions[1]);
  const Simulation &one = solutions[0]->simulation;
  const Simulation &other = solutions[1]->simulation;
  EXPECT_EQ(solutions[1]->schedule.name, "1f1b");
  EXPECT_LT(other.longestSpan(), one.longestSpan());
  EXPECT_GT(other.bubbleSpan, one.bubbleSpan);
}

TEST(Auto, ChoosesThePlacement) {
  // Free transfers: passing every stage twice halves the ramp.
  auto maker = [](double transfer) {
    return [transfer](const Placement &placement) -> Expected<Problem> {
      int v = placement.chunksPerStage();
      Problem problem = uniformProblem(
          placement, 4, makeChunk(v, 4.0 / v, 4.0 / v, 4.0 / v), transfer);
      limitMemory(problem, 4);
      return problem;
    };
  };
  GeneratorOptions quick{.searchSeconds = 0.1};
  Expected<AutoChoice> cheap = autoAmong(autoPlacements(4, 0), maker(0), quick);
  ASSERT_TRUE(cheap);
  EXPECT_GE(cheap->placement.chunksPerStage(), 2);
  Expected<AutoChoice> slow = autoAmong(autoPlacements(4, 0), maker(20), quick);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->placement.kind(), PlacementKind::Linear);
  Expected<AutoChoice> three = autoAmong(autoPlacements(4, 3), maker(0), quick);
  ASSERT_TRUE(three);
  EXPECT_EQ(three->placement.chunksPerStage(), 3);
}

TEST(Auto, PlacementErrors) {
  auto none = [](const Placement &) -> Expected<Problem> {
    return Error{ErrorKind::InvalidProblem, "no such model"};
  };
  Expected<AutoChoice> choice = autoAmong(autoPlacements(4, 0), none);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().message, "no such model");
  EXPECT_FALSE(autoAmong(autoPlacements(0, 0), none));
}
