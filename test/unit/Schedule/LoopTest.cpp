//===- LoopTest.cpp - steps that follow each other ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Loop.h"
#include "../Rounds.h"
#include "Reference.h"
#include "TestUtilities.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Explain.h"
#include "veeline/Schedule/Formats/Formats.h"

#include <cmath>

using namespace veeline::schedule;

/// A V with p activations, on which chunks take the same time.
static Problem onV(int p, int m, double f, double b, double w,
                   double transfer) {
  Problem problem = makeProblem("zb-v", p, 2, m, f / 2, b / 2, w / 2, transfer);
  limitMemory(problem, p);
  return problem;
}

static int countLate(const Schedule &schedule) {
  int late = 0;
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      late += op.late;
  return late;
}

/// The time from one step to the next after many, by the reference: of at most
/// four ranks it repeats after 12 steps.
static std::optional<double> slowPeriod(const Problem &problem,
                                        const Schedule &schedule) {
  double end[2];
  for (int i : {0, 1}) {
    Unrolled steps = unroll(problem, schedule, 60 + 12 * i);
    auto result = reference::simulate(steps.problem, steps.schedule);
    if (!result)
      return std::nullopt;
    end[i] = result->makespan;
  }
  return (end[1] - end[0]) / 12;
}

TEST(Loop, AgreesWithManyStepsOneAfterTheOther) {
  Random random = makeRandom();
  int compared = 0, cyclic = 0;
  for (int round = 0, e = veeline::test::rounds(800); round < e; ++round) {
    const Generator &generator =
        generators()[randomInt(random, 0, generators().size() - 1)];
    int p = randomInt(random, 1, 4);
    Problem problem =
        randomProblem(random, generator.name, p, p * randomInt(random, 1, 2));
    GeneratorOptions options = quickly();
    options.objective = Objective::Period;
    options.searchSeconds = 0.01;
    Expected<Schedule> schedule = generate(generator.name, problem, options);
    if (!schedule) {
      ErrorKind kind = schedule.error().kind;
      EXPECT_TRUE(kind == ErrorKind::OutOfMemory ||
                  kind == ErrorKind::NotApplicable)
          << generator.name << ": " << schedule.error().str();
      continue;
    }
    Expected<Loop> loop = loopOf(problem, *schedule);
    ASSERT_TRUE(loop) << loop.error().str();
    std::optional<double> slow = slowPeriod(problem, *schedule);
    ASSERT_TRUE(slow);
    EXPECT_NEAR(loop->period, *slow, 1e-9 * (1 + *slow)) << generator.name;
    double bound =
        lowerPeriodBound(problem, {.fusedBackward = !generator.splitsBackward})
            .period.time;
    EXPECT_LE(bound, loop->period * (1 + 1e-12)) << generator.name;
    EXPECT_EQ(simulate(problem, *schedule)->period, loop->period);
    ++compared;
    cyclic += isCyclic(*schedule);
  }
  EXPECT_GT(compared, veeline::test::rounds(800) / 2);
  EXPECT_GT(cyclic, 0);
}

/// With what an order holds as limits, no bound is above its period, and some
/// are because of the limits.
TEST(Loop, LimitsOfMemoryHoldPeriodsBack) {
  Random random = makeRandom();
  int byMemory = 0, cyclic = 0;
  for (int round = 0, e = veeline::test::rounds(300); round < e; ++round) {
    const Generator &generator =
        generators()[randomInt(random, 0, generators().size() - 1)];
    int p = randomInt(random, 1, 5);
    Problem problem =
        randomProblem(random, generator.name, p, p * randomInt(random, 1, 3));
    GeneratorOptions options{.objective = Objective::Period,
                             .searchSeconds = 0.004,
                             .estimates = randomInt(random, 0, 1) == 1};
    Expected<Schedule> schedule = generate(generator.name, problem, options);
    if (!schedule)
      continue;
    Simulation simulation = *simulate(problem, *schedule);
    problem.memoryLimits.assign(problem.stages(), 0);
    for (int rank = 0; rank < problem.ranks(); ++rank) {
      std::int64_t &limit = problem.memoryLimits[problem.stageOfRank(rank)];
      limit = std::max(limit, simulation.stages[rank].peakMemory);
    }
    PeriodBound bound =
        lowerPeriodBound(problem, {.fusedBackward = !generator.splitsBackward});
    EXPECT_LE(bound.period.time, simulation.period * (1 + 1e-12))
        << generator.name;
    byMemory += bound.period.kind == BoundKind::Memory;
    cyclic += isCyclic(*schedule);
  }
  EXPECT_GT(byMemory, 0);
  EXPECT_GT(cyclic, 0);
}

// One activation on each of p stages admits one microbatch at a time, for its
// way there and back, and for W.
TEST(Loop, OneMicrobatchAtATime) {
  for (int p : {2, 4}) {
    Problem problem = makeProblem("zb-h1", p, 1, 6, 1, 1, 1);
    limitMemory(problem, 1);
    PeriodBound bound = lowerPeriodBound(problem);
    EXPECT_NEAR(bound.period.time, 6 * (2 * p + 1), 1e-9);
    EXPECT_EQ(bound.period.kind, BoundKind::Memory);
    EXPECT_EQ(bound.rank, 0);
    limitMemory(problem, 0);
    EXPECT_TRUE(std::isinf(lowerPeriodBound(problem).period.time));
  }
}

// Lists are orders like others, and the same for the same options.
TEST(Loop, EstimatesAreOrders) {
  Random random = makeRandom();
  int made = 0;
  for (int round = 0, e = veeline::test::rounds(40); round < e; ++round) {
    const char *name = round % 2 ? "auto" : "zb-loop";
    int p = randomInt(random, 2, 4);
    Problem problem = randomProblem(random, name, p, p);
    if (problem.chunksPerStage() < 2)
      continue;
    GeneratorOptions options = quickly();
    options.objective = Objective::Period;
    options.estimates = true;
    options.searchSeconds = 0.004;
    Expected<Schedule> schedule = generate(name, problem, options);
    if (!schedule) {
      EXPECT_EQ(schedule.error().kind, ErrorKind::OutOfMemory);
      continue;
    }
    ++made;
    EXPECT_EQ(schedule->name, name);
    EXPECT_TRUE(verify(problem, *schedule));
    if (!searchesAreSlow)
      EXPECT_EQ(orderLines(problem, *schedule),
                orderLines(problem, *generate(name, problem, options)));
  }
  EXPECT_GT(made, 0);
}

TEST(Loop, MemoryIsThatOfStepsOneAfterTheOther) {
  for (int p : {2, 4, 8}) {
    Problem problem = onV(p, p, 1000, 1000, 1000, 10);
    Expected<Schedule> schedule = generate("zb-loop", problem);
    ASSERT_TRUE(schedule) << schedule.error().str();
    EXPECT_GT(countLate(*schedule), 0) << p;
    Unrolled steps = unroll(problem, *schedule, 3);
    EXPECT_TRUE(verify(steps.problem, steps.schedule));
    Simulation loop = *simulate(problem, *schedule);
    Simulation many = *simulate(steps.problem, steps.schedule);
    for (int stage = 0; stage < p; ++stage)
      EXPECT_EQ(loop.stages[stage].peakMemory, many.stages[stage].peakMemory);
  }
}

/// Steady bubbles that short steps reach within p activations. One step alone
/// fills and drains for far longer.
TEST(Loop, SlippingShortensPeriods) {
  if (searchesAreSlow)
    GTEST_SKIP() << "what is found in a time, which a sanitizer multiplies";
  struct Row {
    int p, m;
    double f, b, w, transfer, most;
  };
  for (auto [p, m, f, b, w, transfer, most] :
       {Row{4, 4, 1000, 1000, 1000, 10, 0.01},
        {8, 8, 1000, 1000, 1000, 10, 0.0132},
        {8, 12, 1000, 1000, 1000, 10, 0.03},
        {8, 16, 1000, 1000, 1000, 10, 0.0083},
        {12, 12, 1000, 1000, 1000, 10, 0.0143},
        {8, 8, 1000, 1100, 900, 30, 0.0802},
        {8, 8, 18522, 18086, 9337, 601, 0.1827}}) {
    Problem problem = onV(p, m, f, b, w, transfer);
    Simulation loop = simulated("zb-loop", problem);
    Simulation alone = simulated("zb-v", problem, Objective::Period);
    EXPECT_LE(loop.bubbleSteady, most) << p << ", " << m;
    EXPECT_LE(loop.period, alone.period) << p << ", " << m;
    EXPECT_LE(alone.period, alone.makespan) << p << ", " << m;
  }
}

/// Equal chunks and free transfers, p of m: the pattern has no bubble at all,
/// and stage s keeps p - 1 - s W for the next step.
TEST(Loop, NoBubbleWhereStagesDivideMicrobatches) {
  for (int p = 1; p <= 12; ++p)
    for (int bursts : {1, 2}) {
      Problem problem = onV(p, p * bursts, 2, 2, 2, 0);
      GeneratorOptions options;
      options.searchSeconds = p > 4 ? 0.2 : 0.01;
      Expected<Schedule> schedule = generate("zb-loop", problem, options);
      ASSERT_TRUE(schedule) << schedule.error().str();
      Simulation loop = *simulate(problem, *schedule);
      EXPECT_EQ(loop.period, 6 * p * bursts) << p;
      EXPECT_EQ(loop.bubbleSteady, 0) << p;
      EXPECT_LE(peakActivations(loop), p);
      EXPECT_LE(countLate(*schedule), p * (p - 1) / 2);
    }
}

TEST(Loop, AutoIsNotWorseThanOthers) {
  Random random = makeRandom();
  for (int round = 0; round < veeline::test::rounds(20); ++round) {
    int p = randomInt(random, 2, 5);
    Problem problem = onV(p, randomInt(random, 1, 8), randomInt(random, 1, 9),
                          randomInt(random, 1, 9), randomInt(random, 1, 9),
                          randomInt(random, 0, 2));
    // As in most models.
    if (randomInt(random, 0, 1) == 0)
      problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
    if (randomInt(random, 0, 2) == 0)
      problem.tied = {{0, randomInt(random, 1, 2 * p - 1)}};
    GeneratorOptions options{.objective = Objective::Period,
                             .searchSeconds = 0.01};
    Expected<Schedule> ours = generate("auto", problem, options);
    ASSERT_TRUE(ours) << ours.error().str();
    for (const char *name : {"zb-v", "v-half", "v-min", "zb-wave", "zb-loop"}) {
      Expected<Schedule> other = generate(name, problem, options);
      ASSERT_TRUE(other || std::string(name) != "zb-loop")
          << other.error().str();
      if (other)
        EXPECT_LE(loopOf(problem, *ours)->period,
                  loopOf(problem, *other)->period * (1 + 1e-12))
            << name;
    }
  }
}

/// Every placement has loops, of chunks with and without B.
/// Where W may not slip, `auto` takes the better of its orders for a step
/// alone.
TEST(Loop, AutoWithoutSlipping) {
  Problem problem = uniformProblem(
      *Placement::get(PlacementKind::V, 4, 2), 4,
      {.forward = 1000, .backwardInput = 1000, .backwardWeight = 1000}, 10);
  GeneratorOptions options{.objective = Objective::Period,
                           .searchSeconds = 0.2};
  Schedule slipping = *generate("auto", problem, options);
  options.maySlip = false;
  Schedule straight = *generate("auto", problem, options);
  EXPECT_TRUE(isCyclic(slipping));
  EXPECT_FALSE(isCyclic(straight));
  double period = simulate(problem, straight)->period;
  EXPECT_LT(simulate(problem, slipping)->period, period);
  options.searchSeconds = 0.1;
  for (Objective objective : {Objective::Makespan, Objective::Span}) {
    options.objective = objective;
    Schedule other = *generate("auto", problem, options);
    EXPECT_LE(period, simulate(problem, other)->period * (1 + 1e-9));
  }
}

TEST(Loop, AutoOnEveryPlacement) {
  for (PlacementKind kind : {PlacementKind::Linear, PlacementKind::V,
                             PlacementKind::Interleaved, PlacementKind::Wave})
    for (bool whole : {false, true}) {
      int v = kind == PlacementKind::Linear ? 1
              : kind == PlacementKind::Wave ? 3
                                            : 2;
      Problem problem =
          uniformProblem(*Placement::get(kind, 4, v), 6,
                         makeChunk(v, 1000, 1100, 900), /*transfer=*/10);
      if (whole)
        problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
      GeneratorOptions options{.objective = Objective::Period,
                               .searchSeconds = 0.02};
      Expected<Schedule> schedule = generate("auto", problem, options);
      ASSERT_TRUE(schedule) << schedule.error().str();
      std::optional<double> slow = slowPeriod(problem, *schedule);
      ASSERT_TRUE(slow);
      EXPECT_NEAR(loopOf(problem, *schedule)->period, *slow, 1e-6);
    }
}

/// Two stages of one chunk each, two microbatches; the last W of stage 1 is
/// late.
static Schedule lateOnStage1() {
  auto op = [](OpKind kind, int chunk, int microbatch, bool late = false) {
    return Op{kind, chunk, microbatch, late};
  };
  constexpr OpKind F = OpKind::Forward, B = OpKind::BackwardInput,
                   W = OpKind::BackwardWeight;
  return {"by hand",
          {{op(F, 0, 0), op(F, 0, 1), op(B, 0, 0), op(W, 0, 0), op(B, 0, 1),
            op(W, 0, 1)},
           {op(W, 1, 1, true), op(F, 1, 0), op(B, 1, 0), op(F, 1, 1),
            op(B, 1, 1), op(W, 1, 0)}}};
}

static Problem twoStages() { return makeProblem("zb-h1", 2, 1, 2); }

static std::string refusal(const Problem &problem, const Schedule &schedule) {
  Status status = verify(problem, schedule);
  return status ? "" : status.error().message;
}

TEST(Loop, VerifiesCyclicOrders) {
  Problem problem = twoStages();
  EXPECT_EQ(refusal(problem, lateOnStage1()), "");

  Schedule afterF = lateOnStage1();
  std::swap(afterF.stages[1][0], afterF.stages[1][1]);
  EXPECT_EQ(refusal(problem, afterF),
            "stage 1, step 1: W of chunk 1, microbatch 1 of the step before "
            "comes after F of chunk 1, microbatch 0 at step 0; its parameters "
            "have to be updated before the next step uses them");

  Schedule lateF = lateOnStage1();
  lateF.stages[1][3].late = true;
  EXPECT_EQ(refusal(problem, lateF),
            "stage 1, step 3: F of chunk 1, microbatch 1 of the step before "
            "cannot be late; only W of the step before may run in the next "
            "one");

  Schedule wrongOrder = lateOnStage1();
  wrongOrder.stages[1][0].microbatch = 0;
  wrongOrder.stages[1][5].microbatch = 1;
  EXPECT_EQ(refusal(problem, wrongOrder),
            "stage 1, step 5: W of chunk 1, microbatch 1 comes, in its step, "
            "before microbatch 0, whose W is late, at step 0; the microbatches "
            "of a chunk's W must ascend");

  Problem whole = problem;
  whole.chunks[1] = whole.chunks[1].withoutBackwardInput();
  Schedule withoutB = lateOnStage1();
  std::erase_if(withoutB.stages[1],
                [](const Op &op) { return op.kind == OpKind::BackwardInput; });
  whole.edges.clear();
  EXPECT_EQ(refusal(whole, withoutB),
            "stage 1, step 0: W of chunk 1, microbatch 1 of the step before "
            "cannot be late: its chunk has no B, so it waits for gradients of "
            "other stages itself");

  Problem tied = problem;
  tied.tied = {{0, 1}};
  EXPECT_EQ(refusal(tied, lateOnStage1()),
            "stage 1, step 0: W of chunk 1, microbatch 1 of the step before "
            "cannot be late: chunk 0 on stage 0 uses a parameter of it");

  Schedule blocks = lateOnStage1();
  blocks.overlapped = {{}, {2}};
  EXPECT_NE(refusal(problem, blocks).find("with overlapped blocks"),
            std::string::npos);

  // What is late holds its activations when the turn begins.
  Problem little = problem;
  limitMemory(little, 1);
  EXPECT_NE(refusal(little, lateOnStage1()).find("exceeds the memory limit"),
            std::string::npos);
}

TEST(Loop, ExplanationsAreOfStepsAlone) {
  Problem problem = twoStages();
  for (const auto &[schedule, objective] :
       {std::pair(lateOnStage1(), Objective::Makespan),
        std::pair(*generate("zb-h1", problem), Objective::Period)}) {
    Expected<Explanation> why = explain(problem, schedule, {objective});
    ASSERT_FALSE(why);
    EXPECT_EQ(why.error().kind, ErrorKind::NotApplicable);
  }
}

/// Widths of several ranks have no cyclic orders, of one rank each the usual.
TEST(Loop, StagesOfOneRankEach) {
  Problem problem = onV(4, 4, 1000, 1000, 1000, 10);
  problem.widths = {1, 1, 1, 1};
  GeneratorOptions options{.objective = Objective::Period,
                           .searchSeconds = 0.05};
  for (const char *name : {"zb-loop", "auto"}) {
    Expected<Schedule> schedule = generate(name, problem, options);
    ASSERT_TRUE(schedule) << schedule.error().str();
    EXPECT_TRUE(isCyclic(*schedule)) << name;
  }
  Problem several = problem;
  several.widths = {1, 2, 1, 1};
  Schedule wide = *generate("zb-loop", problem, options);
  wide.stages.insert(wide.stages.begin() + 2, wide.stages[1]);
  std::erase_if(wide.stages[1],
                [](const Op &op) { return op.microbatch % 2 != 0; });
  std::erase_if(wide.stages[2],
                [](const Op &op) { return op.microbatch % 2 == 0; });
  EXPECT_NE(refusal(several, wide).find("where stages have several ranks"),
            std::string::npos);
}

TEST(Loop, UpdatesOfTiedParametersHoldAllOfThemBack) {
  Problem problem = makeProblem("1f1b", 4, 1, 4, 1, 2, 1);
  Schedule schedule = *generate("1f1b", problem);
  double apart = loopOf(problem, schedule)->period;
  problem.tied = {{0, 3}};
  ASSERT_TRUE(check(problem));
  // Stage 3 waits for stage 0, whose last backward is that of the step: its F
  // comes three stages after the update.
  double together = loopOf(problem, schedule)->period;
  EXPECT_GE(together, apart);
  EXPECT_DOUBLE_EQ(together, simulate(problem, schedule)->makespan);
  for (const auto &wrong :
       {std::vector<std::vector<int>>{{0}}, {{0, 4}}, {{1, 1}}}) {
    problem.tied = wrong;
    EXPECT_FALSE(check(problem));
  }
}

TEST(Loop, FilesKeepWhatIsLate) {
  Problem problem = onV(4, 4, 1000, 1000, 1000, 10);
  problem.tied = {{1, 2}};
  Schedule schedule = lateOnStage1();
  Problem two = twoStages();
  std::string csv = toCsv(two, schedule);
  EXPECT_EQ(csv, "0F0,0F1,0I0,0W0,0I1,0W1\n1W1',1F0,1I0,1F1,1I1,1W0\n");
  Expected<ImportedSchedule> read = readCsv(csv, "x.csv");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->schedule.stages, schedule.stages);

  Expected<Schedule> loop = generate("zb-loop", problem);
  ASSERT_TRUE(loop) << loop.error().str();
  Expected<Solution> solution = solve(problem, *loop);
  ASSERT_TRUE(solution) << solution.error().str();
  Expected<ImportedSchedule> again = readJson(toJson(*solution), "x.json");
  ASSERT_TRUE(again) << again.error().str();
  EXPECT_EQ(again->schedule.stages, loop->stages);
  ASSERT_TRUE(again->problem);
  EXPECT_EQ(again->problem->tied, problem.tied);
}

TEST(Loop, StagesOfSeveralRanksDoNotSlip) {
  Problem problem = makeProblem("zb-v", 2, 2, 4);
  problem.widths = {2, 1};
  GeneratorOptions options = quickly();
  options.objective = Objective::Period;
  Expected<Schedule> refused = generate("zb-loop", problem, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "schedule zb-loop is for stages of one rank");
  Expected<Schedule> any = generate("auto", problem, options);
  ASSERT_TRUE(any) << any.error().str();
  EXPECT_FALSE(isCyclic(*any));
}
