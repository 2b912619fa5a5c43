//===- QueueTest.cpp - steps that follow one another ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include "veeline/runtime.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace veeline;
using namespace veeline::cts;

/// Of the rank that goes ahead, and of the one that waits for it.
static std::atomic<int64_t> stepsBegun{0};
static std::atomic<int64_t> stepsBehind{0};

/// False if that step has not begun after a while.
static bool waitForStep(int64_t count) {
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (stepsBegun.load() < count)
    if (std::chrono::steady_clock::now() > until)
      return false;
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  return true;
}

static constexpr int numSteps = 40;

/// Sends the number that the step has for it, doubled and as it is.
static void sendNumber(veeline_rank *rank, char *arena,
                       const void *const *batch) {
  veeline_copy(rank, arena, batch[0], 4);
  for (int32_t i = 0; i < 2; ++i)
    veeline_send(rank, 0, i, arena);
}

static void receiveNumber(veeline_rank *rank, char *arena,
                          const void *const *) {
  for (int32_t i = 0; i < 2; ++i)
    veeline_recv_post(rank, 0, arena + 64 * i);
  for (int32_t i = 0; i < 2; ++i)
    veeline_recv_wait(rank, 0);
  veeline_report(rank, 0, 0, arena + 64);
}

namespace {
/// Steps whose number is both what they read and what they report.
struct Numbers : testing::Test {
  Numbers() : fixture({sendNumber, receiveNumber}) {
    fixture.addChannel(0, 1, 64, 2);
  }

  Status begin(int step) {
    numbers[step] = static_cast<float>(step) + 0.5f;
    const void *inputs[] = {&numbers[step]};
    StepSettings settings;
    settings.step = step + 1;
    return fixture.executor().begin(inputs, settings);
  }

  Fixture fixture;
  float numbers[numSteps] = {};
};
} // namespace

/// As many steps as may be are always in flight; each has its own results.
TEST_F(Numbers, OfEachStep) {
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  int32_t most = fixture.executor().maxStepsInFlight();
  ASSERT_GE(most, 1);
  for (int step = 0, begun = 0; step < numSteps; ++step) {
    for (; begun < numSteps && begun < step + most; ++begun)
      ASSERT_TRUE(begin(begun).ok());
    StepResult result;
    ASSERT_TRUE(fixture.executor().finish(result).ok());
    EXPECT_EQ(result.results, std::vector<double>{step + 0.5});
  }
}

/// A rank is in the next step while another one has not ended the last.
TEST(Queue, RankGoesAhead) {
  auto ahead = [](veeline_rank *, char *, const void *const *) {
    ++stepsBegun;
  };
  auto behind = [](veeline_rank *rank, char *arena, const void *const *) {
    // The last step waits for nothing.
    int64_t step = ++stepsBehind;
    float seen = step == 5 || waitForStep(step + 1) ? 1 : 0;
    std::memcpy(arena, &seen, 4);
    veeline_report(rank, 0, 0, arena);
  };
  stepsBegun = 0;
  stepsBehind = 0;
  Fixture fixture({ahead, behind});
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  if (fixture.executor().maxStepsInFlight() == 1)
    GTEST_SKIP() << "its steps begin when all ranks have ended the last one";
  const void *inputs[] = {nullptr};
  ASSERT_TRUE(fixture.executor().begin(inputs, {}).ok());
  for (int step = 0; step < 5; ++step) {
    if (step < 4)
      ASSERT_TRUE(fixture.executor().begin(inputs, {}).ok());
    StepResult result;
    ASSERT_TRUE(fixture.executor().finish(result).ok());
    EXPECT_EQ(result.results, std::vector<double>{1}) << "step " << step;
  }
}

/// A step that all ranks end is whole, whatever happens in the next one. The
/// fault is one of that step, and no rank waits for ever.
TEST(Queue, FaultOfTheNextStep) {
  auto ahead = [](veeline_rank *rank, char *, const void *const *) {
    if (++stepsBegun != 2)
      return;
    // A rank begins no step after a fault, and so not the first one either.
    while (stepsBehind.load() == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    veeline_send_commit(rank, 0);
  };
  auto behind = [](veeline_rank *rank, char *arena, const void *const *) {
    ++stepsBehind;
    if (stepsBegun.load() < 2 && !waitForStep(2))
      return;
    float number = 7;
    std::memcpy(arena, &number, 4);
    veeline_report(rank, 0, 0, arena);
  };
  stepsBegun = 0;
  stepsBehind = 0;
  Fixture fixture({ahead, behind});
  fixture.addChannel(0, 1, 8, 1);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  if (fixture.executor().maxStepsInFlight() == 1)
    GTEST_SKIP() << "its steps begin when all ranks have ended the last one";
  const void *inputs[] = {nullptr};
  ASSERT_TRUE(fixture.executor().begin(inputs, {}).ok());
  ASSERT_TRUE(fixture.executor().begin(inputs, {}).ok());
  StepResult result;
  Status first = fixture.executor().finish(result);
  EXPECT_TRUE(first.ok()) << first.message();
  EXPECT_EQ(result.results, std::vector<double>{7});
  Status second = fixture.executor().finish(result);
  EXPECT_EQ(second.message(),
            "rank 0: channel 0 is committed, but nothing was acquired");
  EXPECT_FALSE(fixture.executor().begin(inputs, {}).ok());
}

/// An executor that is destroyed ends the steps that are under way, also where
/// they could not end by themselves.
TEST(Queue, DestroyedInTheMiddle) {
  auto wait = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
  };
  auto send = [](veeline_rank *rank, char *arena, const void *const *) {
    ++stepsBegun;
    // The first step is whole.
    if (stepsBegun == 1)
      veeline_send(rank, 0, 0, arena);
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  stepsBegun = 0;
  Fixture fixture({send, wait});
  fixture.addChannel(0, 1, 8, 1);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  const void *inputs[] = {nullptr};
  for (int32_t i = 0; i < fixture.executor().maxStepsInFlight(); ++i)
    ASSERT_TRUE(fixture.executor().begin(inputs, {}).ok());
}
