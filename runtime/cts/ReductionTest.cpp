//===- ReductionTest.cpp - gradients of replicas --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include <chrono>
#include <cstring>
#include <thread>

using namespace veeline;
using namespace veeline::cts;

/// More than one block of any implementation, and no multiple of anything.
static constexpr int64_t numElements = 10'007;
static constexpr int64_t arenaBytes = 1 << 18;

/// No two orders of addition give the same sum of these.
static float valueOf(int64_t replica, int64_t i) {
  return static_cast<float>(replica + 1) * 1e4f / static_cast<float>(3 + i) +
         static_cast<float>(replica == 1 ? -1e4 : 1e-3);
}

static float sumOf(int32_t replicas, int64_t i) {
  float sum = valueOf(0, i);
  for (int32_t replica = 1; replica < replicas; ++replica)
    sum += valueOf(replica, i);
  return sum;
}

/// Which replica a rank is: the arena says so before the first step.
static int32_t replicaOf(const char *arena) {
  int32_t replica;
  std::memcpy(&replica, arena + arenaBytes - 64, sizeof(replica));
  return replica;
}

static void fill(char *arena) {
  auto *values = reinterpret_cast<float *>(arena);
  for (int64_t i = 0; i < numElements; ++i)
    values[i] = valueOf(replicaOf(arena), i);
}

static bool isSum(const char *arena, int32_t replicas) {
  const auto *values = reinterpret_cast<const float *>(arena);
  for (int64_t i = 0; i < numElements; ++i)
    if (values[i] != sumOf(replicas, i))
      return false;
  return true;
}

/// One stage on `steps.size()` replicas, with a reduction of one piece.
static void replicate(Fixture &fixture) {
  artifact::Program &program = fixture.program();
  program.replicas = program.stages;
  program.stages = 1;
  int64_t share =
      (numElements + program.replicas - 1) / program.replicas * 4 + 64;
  program.ranks.resize(1);
  program.ranks[0].reductions = {
      {0, {{artifact::DataType::f32, 0, numElements, 65536, share / 64 * 64}}}};
}

/// Makes the executor of all ranks.
static void createAll(Fixture &fixture) {
  auto all = artifact::withAllReplicas(fixture.program(), "stages-first");
  ASSERT_TRUE(all.ok()) << all.message();
  ASSERT_NO_FATAL_FAILURE(fixture.create(*all));
  for (int32_t rank = 0; rank < all->replicas; ++rank)
    ASSERT_TRUE(fixture.executor()
                    .write(rank, arenaBytes - 64, &rank, sizeof(rank))
                    .ok());
}

static void addUp(veeline_rank *rank, char *arena, const void *const *) {
  fill(arena);
  veeline_reduce_post(rank, 0);
  veeline_reduce_wait(rank, 0);
}

/// Who waits early helps, who is late finds it done.
static void addUpLate(veeline_rank *rank, char *arena, const void *const *) {
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  fill(arena);
  veeline_reduce_post(rank, 0);
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  veeline_reduce_wait(rank, 0);
}

static void checkSums(std::vector<veeline_step_fn> steps) {
  auto replicas = static_cast<int32_t>(steps.size());
  Fixture fixture(std::move(steps), arenaBytes);
  replicate(fixture);
  ASSERT_NO_FATAL_FAILURE(createAll(fixture));
  std::vector<char> arena(arenaBytes);
  for (int step = 0; step < 50; ++step) {
    Status status = fixture.step();
    ASSERT_TRUE(status.ok()) << status.message();
    for (int32_t rank = 0; rank < replicas; ++rank) {
      ASSERT_TRUE(
          fixture.executor().read(rank, 0, arena.data(), numElements * 4).ok());
      ASSERT_TRUE(isSum(arena.data(), replicas)) << "rank " << rank;
    }
  }
}

TEST(Reductions, InOrderOfReplicas) {
  checkSums({addUp, addUp});
  checkSums({addUp, addUp, addUp, addUp, addUp});
}

TEST(Reductions, WhoeverIsLate) {
  checkSums({addUpLate, addUp, addUp});
  checkSums({addUp, addUp, addUpLate});
}

static std::string messageOf(std::vector<veeline_step_fn> steps) {
  Fixture fixture(std::move(steps), arenaBytes);
  replicate(fixture);
  createAll(fixture);
  Status status = fixture.step();
  return status.ok() ? "" : status.message();
}

TEST(Reductions, ReplicaThatDoesNotPost) {
  auto doNothing = [](veeline_rank *, char *, const void *const *) {};
  std::string message = messageOf({addUp, doNothing, addUp});
  EXPECT_NE(message.find("rank 0 waits for the gradients of chunk 0 of ranks "
                         "1, 2; rank 1 has ended its step; rank 2 waits for "
                         "the gradients of chunk 0 of ranks 0, 1"),
            std::string::npos)
      << message;
}

TEST(Reductions, WaitWithoutPost) {
  auto waitOnly = [](veeline_rank *rank, char *, const void *const *) {
    veeline_reduce_wait(rank, 0);
  };
  EXPECT_EQ(messageOf({addUp, waitOnly}),
            "rank 1: gradients of replicas are waited for, but none were "
            "posted");
}
