//===- ChecksTest.cpp - defects that only checked builds look for ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps that no compiler writes. In a build without VEELINE_ENABLE_CHECKS they
// would write where they must not, so there is nothing to run.
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"
#include "veeline/Library/Gemm.h"

#include "veeline/Base/Check.h"

#include <gtest/gtest.h>

using namespace veeline;

static constexpr int64_t arenaBytes = 4096;

namespace {
class ChecksDeathTest : public testing::Test {
protected:
  void SetUp() override {
    if (!checksEnabled)
      GTEST_SKIP() << "this build has no checks";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};
} // namespace

/// One parameter of four elements on rank 0, one channel from rank 0 to 1.
static artifact::Artifact makeArtifact() {
  artifact::Artifact artifact;
  artifact.metadata.results = {{"loss", artifact::DataType::f32}};
  artifact.metadata.params = {{"p", {4}, artifact::DataType::f32, {}}};
  artifact.metadata.optimizer = Optimizer::adamw;
  artifact::Program program;
  program.name = "checks";
  program.stages = 2;
  program.ranks.resize(2);
  for (artifact::Rank &rank : program.ranks)
    rank.arenaBytes = arenaBytes;
  program.ranks[0].params = {{0, 0, 64, {}, true}};
  artifact::Gemm gemm = {
      artifact::DataType::f64, {}, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}};
  // As much as this machine wants: the runtime brings no scratch of its own.
  Expected<std::unique_ptr<library::PreparedCall>> prepared =
      library::prepareGemm(gemm);
  if (prepared.ok())
    gemm.scratchBytes = std::max<int64_t>((*prepared)->scratchBytes(), 64);
  program.ranks[0].gemms = {gemm};
  program.channels = {{artifact::ChannelKind::activation, 0, 0, 1, 64, 1}};
  artifact.metadata.programs = {program};
  artifact.objects = {""};
  return artifact;
}

static void doNothing(veeline_rank *, char *, const void *const *) {}

/// Runs one step of two ranks in a process of its own.
static void runStep(veeline_step_fn first, veeline_step_fn second = doNothing) {
  artifact::Artifact artifact = makeArtifact();
  host::HostOptions options;
  options.steps = {first, second};
  auto executor = host::HostExecutor::create(
      artifact, artifact.metadata.programs[0], options);
  StepResult result;
  if (executor.ok() && (*executor)->begin(nullptr, {}).ok())
    (void)(*executor)->finish(result).ok();
}

TEST_F(ChecksDeathTest, MessagePastTheEndOfTheArena) {
  auto post = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena + arenaBytes - 63);
  };
  EXPECT_DEATH(runStep(doNothing, post),
               "check failed: the place for a message is not in the arena");
}

TEST_F(ChecksDeathTest, ReceiverOfAnotherRanksChannel) {
  auto post = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena);
  };
  EXPECT_DEATH(runStep(post), "received from by a rank it does not lead to");
}

TEST_F(ChecksDeathTest, SenderOfAnotherRanksChannel) {
  auto send = [](veeline_rank *rank, char *, const void *const *) {
    veeline_send_acquire(rank, 0);
  };
  EXPECT_DEATH(runStep(doNothing, send), "sent to by a rank");
}

TEST_F(ChecksDeathTest, UnknownChannel) {
  auto send = [](veeline_rank *rank, char *, const void *const *) {
    veeline_send_acquire(rank, 1);
  };
  EXPECT_DEATH(runStep(send), "a channel that the program does not have");
}

TEST_F(ChecksDeathTest, MessageThatNobodyWaitsFor) {
  auto send = [](veeline_rank *rank, char *, const void *const *) {
    veeline_send_acquire(rank, 0);
    veeline_send_commit(rank, 0);
  };
  auto post = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena);
  };
  EXPECT_DEATH(runStep(send, post), "a step ended with messages under way");
}

TEST_F(ChecksDeathTest, ScratchOutsideOfTheArena) {
  auto multiply = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_gemm(rank, 0, arena, arena + 64, arena + 128, arena - 64);
  };
  EXPECT_DEATH(runStep(multiply),
               "the scratch of a matrix product or convolution is not in");
}

TEST_F(ChecksDeathTest, UnknownProduct) {
  auto multiply = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_gemm(rank, 1, arena, arena + 64, arena + 128, arena);
  };
  EXPECT_DEATH(runStep(multiply), "not in the rank's table");
}

TEST_F(ChecksDeathTest, GradientOutsideOfTheArena) {
  auto update = [](veeline_rank *rank, char *arena, const void *const *) {
    const void *gradients[] = {arena + 256, arena + arenaBytes};
    veeline_update(rank, 0, arena, arena + 64, gradients, 2);
  };
  EXPECT_DEATH(runStep(update), "a gradient is not in the arena");
}

TEST_F(ChecksDeathTest, StateOutsideOfTheArena) {
  auto update = [](veeline_rank *rank, char *arena, const void *const *) {
    const void *gradients[] = {arena + 256};
    veeline_update(rank, 0, arena, arena + arenaBytes - 16, gradients, 1);
  };
  EXPECT_DEATH(runStep(update), "the state of an optimiser is not in");
}

TEST_F(ChecksDeathTest, ResultThatTheModelDoesNotHave) {
  auto report = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_report(rank, 0, /*microbatch=*/1, arena);
  };
  EXPECT_DEATH(runStep(report), "a result is reported that the model does not");
}

TEST_F(ChecksDeathTest, OpInsideOfAnother) {
  auto nest = [](veeline_rank *rank, char *, const void *const *) {
    veeline_op_begin(rank, 0);
    veeline_op_begin(rank, 1);
  };
  EXPECT_DEATH(runStep(nest), "an op begins inside of another");
}
