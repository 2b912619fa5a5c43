//===- OptimisticStepsTest.cpp - updates that are done again --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

using namespace veeline;
using namespace veeline::host;

namespace {
/// What a step finds in its arena.
struct Arena {
  float value, gradient, kept;
};

/// The turns in which rank 1 fails, by the number of their step; 0: none.
struct Faults {
  std::atomic<int64_t> inVoid{0}, inRedo{0}, inTime{0}, inLate{0};
};
} // namespace

static Faults faults;
/// Rank 1 does not end a step.
static std::atomic<bool> isHeld;
/// The step in which rank 1 waits for what never comes, and that of the late
/// update before which it does; 0: none.
static std::atomic<int64_t> stuckIn, stuckLateIn;
/// Void turns of both ranks so far.
static std::atomic<int> numVoid;

static float numberOf(const void *const *batch) {
  return *static_cast<const float *>(batch[0]);
}

static void failIn(veeline_rank *rank, const std::atomic<int64_t> &number) {
  if (rank->index == 1 && rank->step == number)
    veeline_send_commit(rank, 0);
}

static void update(veeline_rank *rank, Arena *place) {
  const void *gradient = &place->gradient;
  veeline_update_optimistic(rank, 0, &place->value, nullptr, &gradient, 1,
                            &place->kept);
}

static void waitForNothing(veeline_rank *rank, Arena *place) {
  veeline_recv_post(rank, 1, &place->kept);
  veeline_recv_wait(rank, 1);
}

/// A step reads the parameter before the last update of it is validated. Rank 1
/// is slower now and then.
static void forward(veeline_rank *rank, Arena *place) {
  if (rank->index == 0)
    veeline_report(rank, 0, 0, &place->value);
  else if (rank->step % 3 == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  while (rank->index == 1 && isHeld)
    std::this_thread::yield();
  if (rank->index == 1 && rank->step == stuckIn)
    waitForNothing(rank, place);
}

static bool validate(veeline_rank *rank) {
  veeline_late_begin(rank);
  bool isRight = veeline_validate(rank) != 0;
  veeline_late_end(rank, 1);
  numVoid += !isRight;
  return isRight;
}

static void first(veeline_rank *rank, char *arena, const void *const *batch) {
  auto *place = reinterpret_cast<Arena *>(arena);
  forward(rank, place);
  failIn(rank, faults.inTime);
  place->gradient = numberOf(batch);
  update(rank, place);
}

static void whole(veeline_rank *rank, char *arena, const void *const *batch) {
  auto *place = reinterpret_cast<Arena *>(arena);
  forward(rank, place);
  if (validate(rank)) {
    failIn(rank, faults.inTime);
    place->gradient = numberOf(batch);
  } else {
    failIn(rank, faults.inVoid);
  }
  update(rank, place);
}

static void late(veeline_rank *rank, char *arena, const void *const *) {
  if (validate(rank))
    return;
  failIn(rank, faults.inRedo);
  update(rank, reinterpret_cast<Arena *>(arena));
}

// The same where the update runs in the next step.

static void firstOfLate(veeline_rank *rank, char *arena,
                        const void *const *batch) {
  auto *place = reinterpret_cast<Arena *>(arena);
  forward(rank, place);
  failIn(rank, faults.inTime);
  place->gradient = numberOf(batch);
}

static void updateLate(veeline_rank *rank, Arena *place) {
  veeline_late_begin(rank);
  failIn(rank, faults.inLate);
  if (rank->index == 1 && rank->step == stuckLateIn)
    waitForNothing(rank, place);
  update(rank, place);
  veeline_late_end(rank, 0);
}

static void wholeOfLate(veeline_rank *rank, char *arena,
                        const void *const *batch) {
  auto *place = reinterpret_cast<Arena *>(arena);
  updateLate(rank, place);
  forward(rank, place);
  if (validate(rank)) {
    failIn(rank, faults.inTime);
    place->gradient = numberOf(batch);
  } else {
    failIn(rank, faults.inVoid);
    update(rank, place);
  }
}

static void lateOfLate(veeline_rank *rank, char *arena, const void *const *) {
  auto *place = reinterpret_cast<Arena *>(arena);
  updateLate(rank, place);
  if (validate(rank))
    return;
  failIn(rank, faults.inRedo);
  update(rank, place);
}

namespace {
/// Two ranks with a parameter each, whose gradients are the number of the step.
class OptimisticSteps : public testing::Test {
protected:
  OptimisticSteps() {
    faults.inVoid = faults.inRedo = faults.inTime = faults.inLate = 0;
    numVoid = 0;
    isHeld = false;
    stuckIn = stuckLateIn = 0;
    artifact::Metadata &metadata = artifact.metadata;
    metadata.results = {{"loss", artifact::DataType::f32}};
    metadata.params = {{"v", {1}, artifact::DataType::f32, {}},
                       {"w", {1}, artifact::DataType::f32, {}}};
    metadata.batches = {
        {"x", {1}, artifact::DataType::f32, std::nullopt, {}, {}}};
    metadata.optimizer = Optimizer::sgd;
    artifact.objects = {""};
    artifact::Program &program = metadata.programs.emplace_back();
    program.name = "pipeline";
    program.stages = 2;
    program.clipSync = artifact::ClipSync::optimistic;
    program.ranks.resize(2);
    program.channels = {{artifact::ChannelKind::activation, 0, 1, 0, 4, 1},
                        {artifact::ChannelKind::activation, 1, 0, 1, 4, 1}};
    artifact::Op validation;
    validation.kind = artifact::OpKind::validate;
    validation.late = true;
    for (int32_t i = 0; i < 2; ++i) {
      artifact::Rank &rank = program.ranks[i];
      rank.stepSymbol = "step";
      rank.lateSymbol = rank.firstStepSymbol = "late";
      rank.arenaBytes = sizeof(Arena);
      rank.params = {{i, 0, -1, {{0, sizeof(float)}}, true}};
      rank.ops = {validation};
    }
  }

  void create(int32_t stepsInFlight) {
    HostOptions options;
    options.stepsInFlight = stepsInFlight;
    options.timelineEvents = 100;
    options.steps = {whole, whole};
    options.lateFunctions = {{first, late}, {first, late}};
    if (isLate) {
      options.steps[1] = wholeOfLate;
      options.lateFunctions[1] = {firstOfLate, lateOfLate};
      artifact::Op lateUpdate;
      lateUpdate.kind = artifact::OpKind::update;
      lateUpdate.param = 1;
      lateUpdate.late = true;
      std::vector<artifact::Op> &ops =
          artifact.metadata.programs[0].ranks[1].ops;
      if (ops.size() == 1)
        ops.insert(ops.begin(), lateUpdate);
    }
    auto created =
        HostExecutor::create(artifact, artifact.metadata.programs[0], options);
    ASSERT_TRUE(created.ok()) << created.status().message();
    executor = std::move(*created);
    expected = 1;
    for (int32_t rank = 0; rank < 2; ++rank)
      ASSERT_TRUE(executor->write(rank, 0, &expected, sizeof(expected)).ok());
  }

  /// Every third step has a gradient that is no number.
  float gradientOf(int step) const {
    return hasNaN && step % 3 == 0 ? std::nanf("")
                                   : static_cast<float>(step % 5);
  }

  Status begin(int step) {
    StepSettings settings;
    settings.step = step;
    settings.learningRate = rateOf(step);
    settings.clipNorm = clipNorm;
    settings.skipNonFinite = true;
    numbers[step % 2] = gradientOf(step);
    const void *inputs[] = {&numbers[step % 2]};
    return executor->begin(inputs, settings);
  }

  static double rateOf(int step) { return 0.25 / step; }

  /// Finishes the step, and checks with which value it ran.
  void finish(int step) {
    StepResult result;
    Status status = executor->finish(result);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(result.results, std::vector<double>{expected}) << "step " << step;
    auto gradient = static_cast<double>(gradientOf(step));
    double norm = std::sqrt(gradient * gradient + gradient * gradient);
    EXPECT_EQ(result.clip.skips, std::isnan(norm)) << "step " << step;
    if (std::isnan(norm))
      return;
    EXPECT_EQ(result.gradientNorm, norm) << "step " << step;
    double factor = norm > clipNorm ? clipNorm / norm : 1;
    EXPECT_EQ(result.clip.factor, factor) << "step " << step;
    expected -= static_cast<float>(rateOf(step)) *
                (static_cast<float>(gradient) * static_cast<float>(factor));
  }

  void checkValues() {
    for (int32_t rank = 0; rank < 2; ++rank) {
      float now = 0;
      EXPECT_TRUE(executor->read(rank, 0, &now, sizeof(now)).ok());
      EXPECT_EQ(now, expected);
    }
  }

  /// Two steps are under way nearly always.
  void runSteps(int numSteps) {
    ASSERT_TRUE(begin(1).ok());
    for (int step = 1; step <= numSteps; ++step) {
      if (step < numSteps)
        ASSERT_TRUE(begin(step + 1).ok());
      ASSERT_NO_FATAL_FAILURE(finish(step));
    }
    checkValues();
  }

  /// After a step that none follows, its updates are validated at once. Now and
  /// then two are under way.
  void runAlone(int32_t stepsInFlight) {
    clipNorm = 3.5;
    hasNaN = true;
    ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
    for (int step = 1; step <= 50; ++step) {
      ASSERT_TRUE(begin(step).ok());
      bool isFollowed = stepsInFlight == 2 && step % 4 == 0;
      if (isFollowed)
        ASSERT_TRUE(begin(step + 1).ok());
      ASSERT_NO_FATAL_FAILURE(finish(step));
      if (isFollowed)
        ASSERT_NO_FATAL_FAILURE(finish(++step));
      ASSERT_NO_FATAL_FAILURE(checkValues());
    }
  }

  void destroyInTwoSteps(bool sleeps) {
    ASSERT_NO_FATAL_FAILURE(create(2));
    ASSERT_TRUE(begin(1).ok());
    ASSERT_TRUE(begin(2).ok());
    if (sleeps)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    executor.reset();
  }

  artifact::Artifact artifact;
  std::unique_ptr<HostExecutor> executor;
  double clipNorm = std::numeric_limits<double>::infinity();
  bool hasNaN = false;
  bool isLate = false; ///< The update of rank 1.
  float expected = 1;  ///< The value of both parameters.
  /// By parity of the step: those of two steps are in use at a time.
  float numbers[2] = {};
};
} // namespace

/// Gradients are 1, 2, 3, 4, 0, 1, ...
TEST_F(OptimisticSteps, AreRightWithinTheLimit) {
  clipNorm = 100;
  ASSERT_NO_FATAL_FAILURE(create(2));
  ASSERT_NO_FATAL_FAILURE(runSteps(50));
  EXPECT_EQ(numVoid, 0);
}

TEST_F(OptimisticSteps, AreDoneAgainBeyondIt) {
  clipNorm = 3.5; // Two of five steps have a greater norm.
  ASSERT_NO_FATAL_FAILURE(create(2));
  ASSERT_NO_FATAL_FAILURE(runSteps(50));
  EXPECT_EQ(numVoid, 2 * 20);
}

TEST_F(OptimisticSteps, AreSkippedWhereNoNumber) {
  hasNaN = true;
  ASSERT_NO_FATAL_FAILURE(create(2));
  ASSERT_NO_FATAL_FAILURE(runSteps(50));
  EXPECT_EQ(numVoid, 2 * 16);
}

TEST_F(OptimisticSteps, Alone) {
  for (int32_t stepsInFlight : {1, 2})
    ASSERT_NO_FATAL_FAILURE(runAlone(stepsInFlight));
}

/// A turn that does the updates of step 3 again, and fails, is one of step 4.
TEST_F(OptimisticSteps, FaultInAVoidTurn) {
  clipNorm = 3.5;
  ASSERT_NO_FATAL_FAILURE(create(2));
  faults.inVoid = 4;
  ASSERT_TRUE(begin(1).ok());
  StepResult result;
  Status status = Status::success();
  for (int step = 1; step <= 4 && status.ok(); ++step) {
    ASSERT_TRUE(begin(step + 1).ok());
    status = executor->finish(result);
  }
  EXPECT_EQ(status.message(),
            "rank 1: channel 0 is committed, but nothing was acquired");
  EXPECT_EQ(executor->failedStep(), 4);
  EXPECT_FALSE(begin(5).ok());
}

TEST_F(OptimisticSteps, FaultWhereUpdatesAreDoneAgainAlone) {
  clipNorm = 3.5;
  for (int32_t stepsInFlight : {1, 2}) {
    ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
    faults.inRedo = 3;
    for (int step = 1; step <= 2; ++step) {
      ASSERT_TRUE(begin(step).ok());
      ASSERT_NO_FATAL_FAILURE(finish(step));
    }
    ASSERT_TRUE(begin(3).ok());
    StepResult result;
    EXPECT_EQ(executor->finish(result).message(),
              "rank 1: channel 0 is committed, but nothing was acquired");
    EXPECT_EQ(executor->failedStep(), 3);
  }
}

/// Rank 0 waits for the norm of a step that rank 1 does not end.
TEST_F(OptimisticSteps, FaultWhileAnotherRankValidates) {
  clipNorm = 3.5;
  ASSERT_NO_FATAL_FAILURE(create(2));
  faults.inTime = 1;
  ASSERT_TRUE(begin(1).ok());
  ASSERT_TRUE(begin(2).ok());
  StepResult result;
  EXPECT_FALSE(executor->finish(result).ok());
  EXPECT_EQ(executor->failedStep(), 1);
}

TEST_F(OptimisticSteps, DeadlockWhileAnotherRankValidates) {
  clipNorm = 3.5;
  for (int32_t stepsInFlight : {1, 2}) {
    ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
    stuckIn = 1;
    ASSERT_TRUE(begin(1).ok());
    if (stepsInFlight == 2)
      ASSERT_TRUE(begin(2).ok());
    StepResult result;
    EXPECT_EQ(executor->finish(result).message(),
              "deadlock: rank 0 waits until all ranks have ended the step "
              "before; rank 1 waits for a message of rank 0 (channel 1, "
              "activation 1)");
  }
}

/// Whoever looks for ranks that make no progress is told that it waits.
TEST_F(OptimisticSteps, ARankThatValidatesWaits) {
  clipNorm = 3.5;
  ASSERT_NO_FATAL_FAILURE(create(2));
  isHeld = true;
  ASSERT_TRUE(begin(1).ok());
  ASSERT_TRUE(begin(2).ok());
  while (executor->pulse().state != engine::Pulse::waiting)
    std::this_thread::yield();
  ShortText place;
  executor->describePlace(place);
  EXPECT_EQ(place.view(),
            "rank 0 is before validate, of the step before, and waits until "
            "all ranks have ended the step before");
  isHeld = false;
  ASSERT_NO_FATAL_FAILURE(finish(1));
  ASSERT_NO_FATAL_FAILURE(finish(2));
  checkValues();
}

TEST_F(OptimisticSteps, DestroyedWhileRanksValidate) {
  clipNorm = 0.5;
  for (int32_t stepsInFlight : {1, 2}) {
    ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
    ASSERT_TRUE(begin(1).ok());
    executor.reset();
  }
  for (bool sleeps : {false, true})
    ASSERT_NO_FATAL_FAILURE(destroyInTwoSteps(sleeps));
}

//===----------------------------------------------------------------------===//
// Rank 1 updates in the next step
//===----------------------------------------------------------------------===//

TEST_F(OptimisticSteps, LateWithinTheLimitAndBeyond) {
  isLate = true;
  clipNorm = 100;
  ASSERT_NO_FATAL_FAILURE(create(2));
  ASSERT_NO_FATAL_FAILURE(runSteps(50));
  EXPECT_EQ(numVoid, 0);
  clipNorm = 3.5;
  ASSERT_NO_FATAL_FAILURE(create(2));
  ASSERT_NO_FATAL_FAILURE(runSteps(50));
  EXPECT_EQ(numVoid, 2 * 20);
}

TEST_F(OptimisticSteps, LateAlone) {
  isLate = true;
  for (int32_t stepsInFlight : {1, 2})
    ASSERT_NO_FATAL_FAILURE(runAlone(stepsInFlight));
}

/// The norm of step 1 will never be known.
TEST_F(OptimisticSteps, FaultBeforeALateUpdate) {
  isLate = true;
  clipNorm = 3.5;
  for (int32_t stepsInFlight : {1, 2}) {
    ASSERT_NO_FATAL_FAILURE(create(stepsInFlight));
    faults.inLate = 1;
    ASSERT_TRUE(begin(1).ok());
    if (stepsInFlight == 2)
      ASSERT_TRUE(begin(2).ok());
    StepResult result;
    EXPECT_EQ(executor->finish(result).message(),
              "rank 1: channel 0 is committed, but nothing was acquired");
  }
}

TEST_F(OptimisticSteps, DeadlockBeforeALateUpdate) {
  isLate = true;
  clipNorm = 3.5;
  ASSERT_NO_FATAL_FAILURE(create(2));
  stuckLateIn = 1;
  ASSERT_TRUE(begin(1).ok());
  ASSERT_TRUE(begin(2).ok());
  StepResult result;
  EXPECT_EQ(executor->finish(result).message(),
            "deadlock: rank 0 waits until all ranks have ended the step "
            "before; rank 1 waits for a message of rank 0 (channel 1, "
            "activation 1)");
}

TEST_F(OptimisticSteps, DestroyedBeforeALateUpdate) {
  isLate = true;
  clipNorm = 0.5;
  for (bool sleeps : {false, true})
    ASSERT_NO_FATAL_FAILURE(destroyInTwoSteps(sleeps));
}
