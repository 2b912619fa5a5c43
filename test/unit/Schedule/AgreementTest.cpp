//===- AgreementTest.cpp - the simulator against the reference ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "RandomSchedules.h"
#include "Reference.h"

#include <algorithm>

using namespace veeline::schedule;

static const int rounds = veeline::test::rounds(100'000);

static bool isNear(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

/// Times are sums in the same order on both sides, hence equal. Differences of
/// times are only near.
static bool isSame(const StageStatistics &a, const StageStatistics &b) {
  return isNear(a.busy, b.busy) && a.peakMemory == b.peakMemory &&
         a.firstStart == b.firstStart && a.lastEnd == b.lastEnd &&
         isNear(a.waiting.fill, b.waiting.fill) &&
         isNear(a.waiting.forward, b.waiting.forward) &&
         isNear(a.waiting.gradient, b.waiting.gradient) &&
         isNear(a.waiting.send, b.waiting.send) &&
         isNear(a.waiting.offload, b.waiting.offload) &&
         isNear(a.waiting.drain, b.waiting.drain);
}

static bool isSame(const Simulation &a, const Simulation &b) {
  return a.start == b.start && a.end == b.end && a.memory == b.memory &&
         a.makespan == b.makespan && a.offloads == b.offloads &&
         isNear(a.bubbleMakespan, b.bubbleMakespan) &&
         isNear(a.bubbleSpan, b.bubbleSpan) &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(),
                    b.stages.end(),
                    [](const StageStatistics &x, const StageStatistics &y) {
                      return isSame(x, y);
                    });
}

/// Busy time and waiting make up the makespan.
static bool addsUp(const Simulation &simulation) {
  return std::all_of(simulation.stages.begin(), simulation.stages.end(),
                     [&](const StageStatistics &stage) {
                       return isNear(stage.busy + stage.waiting.total(),
                                     simulation.makespan);
                     });
}

/// Whether messages are sorted by the end of their producers, each after what
/// its producer needs.
static bool isInOrder(const Schedule &schedule, const Simulation &simulation,
                      const std::vector<Message> &messages) {
  double latest = 0;
  // Per stage, the last step that sent, and a bound on receives: a stage may
  // not receive for a step that it has sent from, or from an earlier one.
  std::vector<int> sent(schedule.stages.size(), -1);
  for (const Message &message : messages) {
    double end = simulation.end[message.sourceStage][message.sourceStep];
    if (end < latest || message.sourceStep < sent[message.sourceStage] ||
        message.targetStep <= sent[message.targetStage])
      return false;
    latest = end;
    sent[message.sourceStage] = message.sourceStep;
  }
  return true;
}

static bool agrees(const std::optional<Simulation> &expected,
                   const Expected<Simulation> &result) {
  if (!expected)
    return !result && result.error().kind == ErrorKind::Deadlock;
  return result && isSame(*result, *expected) && addsUp(*result);
}

/// Compares all ways to simulate one schedule. Sets `runs` to whether it runs.
static void compare(const Problem &problem, const Schedule &schedule,
                    bool &runs) {
  Expected<Simulation> result = simulate(problem, schedule);
  std::optional<Simulation> expected = reference::simulate(problem, schedule);
  ASSERT_TRUE(agrees(expected, result));
  runs = expected.has_value();
  ASSERT_TRUE(agrees(reference::simulate(problem, schedule, true),
                     simulate(problem, schedule, {.contention = true})));
  Expected<Simulation> blocking =
      simulate(problem, schedule, {Transfers::Rendezvous});
  if (!schedule.offloads.empty()) {
    ASSERT_FALSE(blocking);
    return;
  }
  if (!runs) {
    ASSERT_FALSE(blocking);
    return;
  }
  Expected<std::vector<Message>> messages =
      communicationOrder(problem, schedule);
  ASSERT_TRUE(messages);
  ASSERT_TRUE(isInOrder(schedule, *result, *messages));
  ASSERT_TRUE(verifyCommunication(problem, schedule, *messages));
  ASSERT_TRUE(agrees(
      reference::simulateRendezvous(problem, schedule, *messages), blocking));
  // Blocking only ever delays.
  ASSERT_GE(blocking->makespan, result->makespan * (1 - 1e-12));
}

TEST(Agreement, SimulatorAndReference) {
  Random random = makeRandom();
  int ran = 0, stuck = 0, blocks = 0, offloads = 0;
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    Problem problem = randomSmallProblem(random);
    ASSERT_TRUE(check(problem)) << check(problem).error().message;
    Schedule schedule = randomOrder(random, problem, false);
    if (randomInt(random, 0, 3) == 0)
      disturb(random, schedule);
    if (randomInt(random, 0, 1) == 0)
      addBlocks(random, schedule);
    bool isOffloaded = randomInt(random, 0, 2) == 0;
    if (isOffloaded)
      addRandomOffloads(random, problem, schedule);
    // What was swapped before may put a reader before its F.
    Expected<Simulation> known = simulate(problem, schedule);
    if (isOffloaded && !known && known.error().kind == ErrorKind::WrongOffload)
      continue;
    bool runs = false;
    compare(problem, schedule, runs);
    offloads += runs && isOffloaded;
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;
    ++(runs ? ran : stuck);
    for (const std::vector<int> &steps : schedule.overlapped)
      blocks += runs && !steps.empty();
  }
  EXPECT_GT(ran, rounds / 2);
  EXPECT_GT(stuck, rounds / 20);
  EXPECT_GT(blocks, rounds / 20);
  EXPECT_GT(offloads, rounds / 10);
}

TEST(Agreement, VerifierAndReference) {
  Random random = makeRandom();
  int valid = 0, invalid = 0;
  for (int round = 0; round < rounds / 5; ++round) {
    Problem problem = randomSmallProblem(random);
    Schedule schedule = randomOrder(random, problem, true);
    if (randomInt(random, 0, 2) == 0)
      disturb(random, schedule);
    if (randomInt(random, 0, 1) == 0)
      addBlocks(random, schedule);
    if (!schedule.overlapped.empty() && randomInt(random, 0, 3) == 0)
      for (int &step : schedule.overlapped[0])
        step += randomInt(random, -1, 1);
    if (randomInt(random, 0, 1) == 0)
      for (int stage = 0; stage < problem.stages(); ++stage)
        problem.memoryLimits.push_back(randomInt(random, 8, 40));
    bool expected = reference::isValid(problem, schedule);
    Status status = verify(problem, schedule);
    ASSERT_EQ(static_cast<bool>(status), expected)
        << "round " << round << (status ? "" : status.error().str());
    ++(expected ? valid : invalid);
  }
  EXPECT_GT(valid, rounds / 50);
  EXPECT_GT(invalid, rounds / 50);
}
