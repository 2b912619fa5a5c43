//===- LateStepsTest.cpp - work that the next step runs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace veeline;
using namespace veeline::host;

namespace {
/// What a step finds at a place of its arena.
struct Arena {
  float value, gradient;
};

/// Where the ranks fail, in steps from 1; 0: nowhere.
struct Faults {
  std::atomic<int64_t> late{0}, inTime{0};
};
} // namespace

static Faults faults;
/// The last step that rank 1 has begun: it does not end one that begins after a
/// fault.
static std::atomic<int64_t> begunByOther;

static float numberOf(const void *const *batch) {
  return *static_cast<const float *>(batch[0]);
}

/// Fails in step `number`.
static void failIn(veeline_rank *rank, const std::atomic<int64_t> &number) {
  if (rank->step != number)
    return;
  while (begunByOther < number - 1)
    std::this_thread::yield();
  veeline_send_commit(rank, 0);
}

/// The parameter is updated with the number of the step, which is late.
static void runLate(veeline_rank *rank, char *arena) {
  auto *place = reinterpret_cast<Arena *>(arena);
  place->gradient += numberOf(veeline_late_begin(rank));
  veeline_late_end(rank, 0);
  // What is late may be in several pieces.
  veeline_late_begin(rank);
  failIn(rank, faults.late);
  const void *gradient = &place->gradient;
  veeline_update(rank, 0, &place->value, nullptr, &gradient, 1);
  veeline_late_end(rank, 1);
}

/// Reports the parameter with which the step runs.
static void runInTime(veeline_rank *rank, char *arena,
                      const void *const *batch) {
  auto *place = reinterpret_cast<Arena *>(arena);
  veeline_report(rank, 0, 0, &place->value);
  failIn(rank, faults.inTime);
  // A gradient of what the step has read already.
  place->gradient = numberOf(batch);
}

static void first(veeline_rank *rank, char *arena, const void *const *batch) {
  runInTime(rank, arena, batch);
}
static void whole(veeline_rank *rank, char *arena, const void *const *batch) {
  runLate(rank, arena);
  runInTime(rank, arena, batch);
}
static void late(veeline_rank *rank, char *arena, const void *const *) {
  runLate(rank, arena);
}
/// A rank of which nothing is late, and which is slower now and then.
static void other(veeline_rank *rank, char *, const void *const *) {
  begunByOther = rank->step.load();
  if (rank->step % 3 == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

namespace {
/// Rank 0 has a parameter that the next step updates, rank 1 has nothing.
class LateSteps : public testing::Test {
protected:
  LateSteps() {
    faults.late = faults.inTime = begunByOther = 0;
    artifact::Metadata &metadata = artifact.metadata;
    metadata.results = {{"loss", artifact::DataType::f32}};
    metadata.params = {{"w", {1}, artifact::DataType::f32, {}}};
    metadata.batches = {
        {"x", {1}, artifact::DataType::f32, std::nullopt, {}, {}}};
    metadata.optimizer = Optimizer::sgd;
    artifact.objects = {""};
    artifact::Program &program = metadata.programs.emplace_back();
    program.name = "pipeline";
    program.stages = 2;
    program.ranks.resize(2);
    program.channels = {{artifact::ChannelKind::activation, 0, 0, 1, 4, 1}};
    for (artifact::Rank &rank : program.ranks) {
      rank.stepSymbol = "step";
      rank.arenaBytes = sizeof(Arena);
    }
    artifact::Rank &rank = program.ranks[0];
    rank.lateSymbol = rank.firstStepSymbol = "late";
    rank.params = {{0, 0, -1, {{0, sizeof(float)}}, true}};
    artifact::Op update;
    update.kind = artifact::OpKind::update;
    update.param = 0;
    update.late = true;
    rank.ops = {update};
  }

  void create(int32_t stepsInFlight) {
    HostOptions options;
    options.stepsInFlight = stepsInFlight;
    options.timelineEvents = 100;
    options.steps = {whole, other};
    options.lateFunctions = {{first, late}, {}};
    auto created =
        HostExecutor::create(artifact, artifact.metadata.programs[0], options);
    ASSERT_TRUE(created.ok()) << created.status().message();
    executor = std::move(*created);
    float start = 1;
    ASSERT_TRUE(executor->write(0, 0, &start, sizeof(start)).ok());
  }

  Status begin(int step) {
    StepSettings settings;
    settings.step = step;
    settings.learningRate = rateOf(step);
    numbers[step % 2] = static_cast<float>(step);
    const void *inputs[] = {&numbers[step % 2]};
    return executor->begin(inputs, settings);
  }

  static double rateOf(int step) { return 0.25 / step; }

  /// Finishes the step, and checks that it ran with `value`.
  void finish(int step, float value) {
    StepResult result;
    Status status = executor->finish(result);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(result.results, std::vector<double>{value}) << "step " << step;
    // The number of the step, twice: once in time, once late.
    EXPECT_EQ(result.gradientNorm, 2.0 * step) << "step " << step;
  }

  static float updated(float value, int step) {
    return value -
           static_cast<float>(rateOf(step)) * static_cast<float>(2 * step);
  }

  float value() {
    float now = 0;
    EXPECT_TRUE(executor->read(0, 0, &now, sizeof(now)).ok());
    return now;
  }

  artifact::Artifact artifact;
  std::unique_ptr<HostExecutor> executor;
  /// By parity of the step: those of two steps are in use at a time.
  float numbers[2] = {};
};
} // namespace

/// The learning rate, the data and the norm of what is late are those of its
/// step, which the next step completes.
TEST_F(LateSteps, OfTheStepBefore) {
  ASSERT_NO_FATAL_FAILURE(create(2));
  constexpr int numSteps = 50;
  float expected = 1;
  ASSERT_TRUE(begin(1).ok());
  for (int step = 1; step <= numSteps; ++step) {
    if (step < numSteps)
      ASSERT_TRUE(begin(step + 1).ok());
    ASSERT_NO_FATAL_FAILURE(finish(step, expected));
    expected = updated(expected, step);
  }
  EXPECT_EQ(value(), expected);
}

/// After a step that none follows, parameters are updated; the next step is a
/// first one again.
TEST_F(LateSteps, Alone) {
  for (int32_t stepsInFlight : {1, 2}) {
    ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
    float expected = 1;
    for (int step = 1; step <= 50; ++step) {
      ASSERT_TRUE(begin(step).ok());
      // Now and then two are under way.
      bool isFollowed = stepsInFlight == 2 && step % 5 == 0;
      if (isFollowed)
        ASSERT_TRUE(begin(step + 1).ok());
      ASSERT_NO_FATAL_FAILURE(finish(step, expected));
      expected = updated(expected, step);
      if (isFollowed) {
        ASSERT_NO_FATAL_FAILURE(finish(++step, expected));
        expected = updated(expected, step);
      }
      ASSERT_EQ(value(), expected) << "step " << step;
    }
  }
}

/// A fault of what is late is one of the step before, which then does not
/// count.
TEST_F(LateSteps, FaultOfTheStepBefore) {
  for (int32_t stepsInFlight : {1, 2}) {
    ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
    faults.late = 3;
    float expected = 1;
    for (int step = 1; step <= 3; ++step) {
      if (step == 1 || stepsInFlight == 1)
        ASSERT_TRUE(begin(step).ok());
      if (stepsInFlight == 2)
        ASSERT_TRUE(begin(step + 1).ok());
      if (step == 3)
        break;
      ASSERT_NO_FATAL_FAILURE(finish(step, expected));
      expected = updated(expected, step);
    }
    StepResult result;
    EXPECT_EQ(executor->finish(result).message(),
              "rank 0: channel 0 is committed, but nothing was acquired");
    EXPECT_EQ(executor->failedStep(), 3);
    EXPECT_FALSE(begin(4).ok());
  }
}

/// A step counts if all of it has run, also what is late.
TEST_F(LateSteps, FaultOfTheNextStep) {
  ASSERT_NO_FATAL_FAILURE(create(2));
  faults.inTime = 2;
  ASSERT_TRUE(begin(1).ok());
  ASSERT_TRUE(begin(2).ok());
  ASSERT_NO_FATAL_FAILURE(finish(1, 1));
  StepResult result;
  EXPECT_FALSE(executor->finish(result).ok());
  EXPECT_EQ(executor->failedStep(), 2);
}

TEST_F(LateSteps, DestroyedWithWorkLeft) {
  for (int32_t stepsInFlight : {1, 2})
    for (int step : {1, 3}) {
      ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
      ASSERT_TRUE(begin(step).ok());
      executor.reset();
    }
  ASSERT_NO_FATAL_FAILURE(create(2));
  ASSERT_TRUE(begin(1).ok());
  ASSERT_TRUE(begin(2).ok());
  executor.reset();
}
