//===- OffloadTest.cpp - activations in the host's memory -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Offload.h"

#include "../Rounds.h"
#include "RandomSchedules.h"
#include "Reference.h"
#include "veeline/Schedule/Loop.h"

#include <algorithm>

using namespace veeline::schedule;

/// `problem`, of whose activations this share can be offloaded; a copy of one
/// activation unit takes `time` each way.
static Problem withOffload(Problem problem, double time, double share = 1) {
  for (Chunk &chunk : problem.chunks) {
    chunk.offloadMemory = static_cast<std::int64_t>(
        share * static_cast<double>(chunk.forwardMemory));
    chunk.offloadTime =
        time * static_cast<double>(chunk.offloadMemory) / activationUnit;
  }
  return problem;
}

/// A schedule with offloads, and without.
struct Pair {
  Solution with, without;
  double time() const {
    return with.simulation.makespan / without.simulation.makespan;
  }
  double peak() const {
    return static_cast<double>(with.simulation.peakMemory()) /
           static_cast<double>(without.simulation.peakMemory());
  }
  /// The share of all activations that is offloaded.
  double share() const {
    double all = 0, away = 0;
    for (const std::vector<Op> &ops : with.schedule.stages)
      for (const Op &op : ops)
        if (op.kind == OpKind::Forward)
          all += with.problem.chunks[op.chunk].forwardMemory;
    for (const std::vector<Offload> &offloads : with.schedule.offloads)
      for (const Offload &it : offloads)
        away += with.problem.chunks[it.chunk].offloadMemory;
    return away / all;
  }
};

static Pair solveBoth(std::string_view name, const Problem &problem) {
  Expected<Schedule> without = generate(name, problem, quickly());
  EXPECT_TRUE(without) << without.error().str();
  GeneratorOptions options = quickly();
  options.offload = true;
  Expected<Schedule> with = generate(name, problem, options);
  EXPECT_TRUE(with) << with.error().str();
  Expected<Solution> a = solve(problem, *with), b = solve(problem, *without);
  EXPECT_TRUE(a) << a.error().str();
  return {*a, *b};
}

/// The figure of the paper: where a copy to the host and one back take as long
/// as F and backward, half of all activations need no memory, and no time.
TEST(Offload, HalfOfAllActivationsCostNoTime) {
  // F, B and W of a stage take 3, so 1.5 each way.
  for (int stages : {8, 16}) {
    Pair pair = solveBoth(
        "1f1b", withOffload(makeProblem("1f1b", stages, 1, 4 * stages), 1.5));
    EXPECT_LE(pair.peak(), 0.5) << stages;
    EXPECT_LE(pair.time(), 1.01) << stages;
  }
}

/// And less than that where chunks are shorter than stages, or copies faster:
/// peaks fall by more than the share that is away.
TEST(Offload, FasterCopiesAndMoreChunks) {
  auto peak = [](const char *name, int v, double time) {
    Pair pair = solveBoth(name, withOffload(makeProblem(name, 8, v, 32, 1.0 / v,
                                                        1.0 / v, 1.0 / v),
                                            time));
    EXPECT_LE(pair.time(), 1.01);
    if (pair.share() > 0)
      EXPECT_LT(pair.peak(), 1);
    return pair.peak();
  };
  EXPECT_LE(peak("1f1b", 1, 1), 0.25);
  EXPECT_LE(peak("gpipe", 1, 1), 0.1);
  EXPECT_LE(peak("interleaved-1f1b", 4, 1), 0.25);
  EXPECT_LE(peak("zb-v", 2, 0.5), 0.6);
  double before = 0;
  for (double time : {0.25, 0.5, 1.0, 2.0, 4.0, 16.0}) {
    double next = peak("1f1b", 1, time);
    EXPECT_GE(next, before) << time;
    before = next;
  }
}

/// The makespan of `name` on 8 stages under a limit; none: there is no
/// schedule.
static std::optional<double> makespanWithin(const char *name, double limit,
                                            double time, bool offload) {
  bool isV = std::string_view(name) == "zb-v";
  double cost = isV ? 0.5 : 1;
  Problem problem = withOffload(
      makeProblem(name, 8, isV ? 2 : 1, 32, cost, cost, cost), time);
  limitMemory(problem, limit);
  GeneratorOptions options{.searchSeconds = 0.1};
  options.offload = offload;
  Expected<Schedule> schedule = generate(name, problem, options);
  if (!schedule)
    return std::nullopt;
  Status status = verify(problem, *schedule);
  EXPECT_TRUE(status) << status.error().str();
  return simulate(problem, *schedule)->makespan;
}

/// A limit that leaves no order, or only slow ones, is one for copies.
TEST(Offload, LimitsAreLessHard) {
  EXPECT_FALSE(makespanWithin("1f1b", 2, 0.5, false));
  EXPECT_EQ(makespanWithin("1f1b", 2, 0.5, true), 117);
  EXPECT_GT(makespanWithin("1f1b", 1, 0.5, true), 117);
  EXPECT_FALSE(makespanWithin("gpipe", 4, 0.5, false));
  EXPECT_EQ(makespanWithin("gpipe", 4, 0.5, true), 117);
  for (const char *name : {"zb-v", "auto"})
    for (double limit : {1.0, 2.0, 4.0}) {
      std::optional<double> with = makespanWithin(name, limit, 0.5, true);
      std::optional<double> without = makespanWithin(name, limit, 0.5, false);
      ASSERT_TRUE(with && without);
      EXPECT_LT(*with, *without * (limit < 4 ? 0.6 : 0.95)) << name << limit;
    }
  // Copies that are too slow are not worth it.
  EXPECT_LE(makespanWithin("auto", 2, 100, true).value(),
            makespanWithin("auto", 2, 100, false).value() * 1.01);
}

TEST(Offload, LimitsThatCannotBeMet) {
  Problem problem = withOffload(makeProblem("1f1b", 4, 1, 8), 1, 0.5);
  limitMemory(problem, 0.75);
  GeneratorOptions options;
  options.offload = true;
  Expected<Schedule> schedule = generate("1f1b", problem, options);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().kind, ErrorKind::OutOfMemory);
  EXPECT_NE(schedule.error().message.find("however much it offloads"),
            std::string::npos)
      << schedule.error().message;
  // The limit that it names is one that can be met.
  std::int64_t least = *schedule.error().leastLimit;
  problem.memoryLimits.assign(4, least);
  EXPECT_TRUE(generate("1f1b", problem, options));
}

/// A schedule whose offloads were changed is refused, with the place.
TEST(Offload, VerifierNamesWhatIsWrong) {
  Problem problem = withOffload(makeProblem("gpipe", 2, 1, 3), 1);
  Schedule schedule = *generate("gpipe", problem);
  auto messageOf = [&](std::vector<Offload> offloads) {
    Schedule changed = schedule;
    changed.offloads = {std::move(offloads), {}};
    Status status = verify(problem, changed);
    // The simulator runs nothing that the verifier refuses.
    EXPECT_EQ(static_cast<bool>(status),
              static_cast<bool>(simulate(problem, changed)));
    if (status)
      return std::string();
    EXPECT_EQ(status.error().kind, ErrorKind::WrongOffload);
    return status.error().message;
  };
  EXPECT_EQ(messageOf({{0, 0, 1, 3}}), "");
  EXPECT_EQ(messageOf({{0, 0, 2, 2}}), "");
  EXPECT_EQ(
      messageOf({{0, 0, 0, 3}}),
      "stage 0, step 0: F of chunk 0, microbatch 0 is offloaded from step "
      "0 to 3; it can leave after its own step, and has to be back for BW "
      "of chunk 0, microbatch 0 at step 3");
  EXPECT_NE(messageOf({{0, 0, 2, 1}}), "");
  EXPECT_NE(messageOf({{0, 0, 1, 4}}), "");
  EXPECT_NE(messageOf({{0, 1, 2, 4}, {0, 0, 1, 3}}), "");
  EXPECT_NE(messageOf({{0, 0, 1, 3}, {0, 0, 1, 3}}), "");
  EXPECT_EQ(messageOf({{1, 0, 1, 3}}),
            "stage 0 offloads chunk 1, microbatch 0, which it does not have");
  EXPECT_NE(messageOf({{0, 7, 1, 3}}), "");
  problem.chunks[0].offloadMemory = 0;
  EXPECT_EQ(messageOf({{0, 0, 1, 3}}),
            "stage 0, step 0: F of chunk 0, microbatch 0 keeps nothing that "
            "could be offloaded");
}

TEST(Offload, ProblemsThatCannotBe) {
  Problem problem = withOffload(makeProblem("1f1b", 2, 1, 3), 1);
  problem.chunks[0].offloadMemory = 2 * activationUnit;
  EXPECT_EQ(check(problem).error().message,
            "chunk 0: what can be offloaded must be from 0 to what F adds, 1 "
            "activation, not 2 activations");
  problem.chunks[0].offloadMemory = 0;
  problem.chunks[0].offloadTime = -1;
  EXPECT_FALSE(check(problem));
}

/// Problems and orders of any kind: what is planned is valid, stays within the
/// limits or says by how much not, and takes no more time than it may.
TEST(Offload, RandomPlans) {
  Random random = makeRandom();
  int offloaded = 0, limited = 0, refused = 0;
  const int rounds = veeline::test::rounds(20'000);
  for (int round = 0; round < rounds; ++round) {
    Problem problem = randomSmallProblem(random);
    Schedule schedule = randomOrder(random, problem, true);
    if (randomInt(random, 0, 1) == 0)
      addBlocks(random, schedule);
    if (!verify(problem, schedule))
      continue;
    double before = simulate(problem, schedule)->makespan;
    std::int64_t peak = simulate(problem, schedule)->peakMemory();
    Expected<Schedule> lowest =
        addOffloads(problem, schedule, Objective::Makespan, 0.1);
    ASSERT_TRUE(lowest);
    ASSERT_TRUE(reference::isValid(problem, *lowest));
    Expected<Solution> solution = solve(problem, *lowest);
    ASSERT_TRUE(solution) << "round " << round << solution.error().str();
    ASSERT_LE(solution->simulation.makespan, before * 1.1 + 1e-9);
    ASSERT_LE(solution->simulation.peakMemory(), peak);
    offloaded += solution->simulation.peakMemory() < peak;
    for (int stage = 0; stage < problem.stages(); ++stage)
      problem.memoryLimits.push_back(randomInt(
          random, static_cast<int>(peak) / 2, static_cast<int>(peak)));
    Expected<Schedule> limits =
        addOffloads(problem, schedule, Objective::Makespan);
    if (!limits) {
      ASSERT_EQ(limits.error().kind, ErrorKind::OutOfMemory);
      ++refused;
      continue;
    }
    Status status = verify(problem, *limits);
    ASSERT_TRUE(status) << "round " << round << status.error().str();
    ++limited;
  }
  EXPECT_GT(offloaded, rounds / 20);
  EXPECT_GT(limited, rounds / 20);
  EXPECT_GT(refused, rounds / 20);
}

/// The period is what many steps come to.
TEST(Offload, PeriodOfManySteps) {
  Random random = makeRandom();
  int waits = 0;
  const int rounds = veeline::test::rounds(2'000);
  for (int round = 0; round < rounds; ++round) {
    Problem problem = randomSmallProblem(random);
    Schedule schedule = randomOrder(random, problem, true);
    addRandomOffloads(random, problem, schedule);
    if (!verify(problem, schedule))
      continue;
    double period = simulate(problem, schedule)->period;
    Schedule without = schedule;
    without.offloads.clear();
    waits += period > simulate(problem, without)->period * 1.001;
    auto length = [&](int steps) {
      Unrolled many = unroll(problem, schedule, steps);
      return simulate(many.problem, many.schedule)->makespan;
    };
    // Tied chunks do not occur here, so steps wait for nothing else.
    constexpr int first = 24, more = 60;
    ASSERT_NEAR((length(first + more) - length(first)) / more, period,
                1e-6 * std::max(1.0, period))
        << "round " << round;
  }
  EXPECT_GT(waits, rounds / 20);
}
