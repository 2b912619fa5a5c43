//===- CudaStepTest.cpp - steps of a GPU over the stand-in ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include "veeline/Base/Check.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

using namespace veeline;
using artifact::DataType;
using test::argument;
using test::toArgument;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// target[i] = factor * source[i] + offset, for the threads of the launch.
static void scale(const void *const *params, const uint32_t grid[3],
                  const uint32_t block[3]) {
  auto *target = argument<float *>(params, 0);
  const auto *source = argument<const float *>(params, 1);
  auto factor = argument<float>(params, 2);
  auto offset = argument<int8_t>(params, 3);
  for (uint32_t i = 0; i < grid[0] * block[0]; ++i)
    target[i] = factor * source[i] + static_cast<float>(offset);
}

static constexpr int32_t numScaled = 64;

/// Doubles and adds in place, again and again, which gives another number in
/// another order. The arguments are gone when a launch returns.
static void scaleOften(veeline_rank *rank, char *arena, const void *const *) {
  for (int i = 0; i < 5; ++i) {
    uint64_t arguments[] = {toArgument(arena), toArgument(arena),
                            toArgument(2.0f), toArgument<int8_t>(-i)};
    veeline_launch(rank, 0, arguments);
    std::memset(arguments, 0xff, sizeof(arguments));
    veeline_copy(rank, arena + 1024, arena, 4 * numScaled);
    veeline_copy(rank, arena, arena + 1024, 4 * numScaled);
  }
}

TEST(CudaStep, LaunchesInOrder) {
  test::OrderGuard guard;
  for (const char *order : {"late", "fifo", "random:3"}) {
    standin::setOrder(order);
    cts::Fixture fixture({scaleOften}, 4096);
    EXPECT_EQ(test::addKernel(fixture, "scale", scale, 4, {2, 1, 1},
                              {numScaled / 2, 1, 1}),
              0);
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    std::vector<float> values(numScaled), expected(numScaled);
    std::iota(values.begin(), values.end(), 1.0f);
    expected = values;
    ASSERT_TRUE(
        fixture.executor().write(0, 0, values.data(), 4 * numScaled).ok());
    for (int step = 0; step < 3; ++step) {
      for (float &value : expected)
        for (int i = 0; i < 5; ++i)
          value = 2 * value - static_cast<float>(i);
      Status status = fixture.step();
      ASSERT_TRUE(status.ok()) << status.message();
    }
    ASSERT_TRUE(
        fixture.executor().read(0, 0, values.data(), 4 * numScaled).ok());
    EXPECT_EQ(values, expected) << order;
  }
}

//===----------------------------------------------------------------------===//
// Inputs, constants, settings and norms
//===----------------------------------------------------------------------===//

/// Writes the norms of two parameters, each in two parts: sums of inputs,
/// settings and constants that tell all of them apart.
static void describe(const void *const *params, const uint32_t *,
                     const uint32_t *) {
  auto *norm = argument<double *>(params, 0);
  const auto *batch = argument<const float *>(params, 1);
  const auto *buffer = argument<const float *>(params, 2);
  const auto *settings = argument<const struct veeline_settings *>(params, 3);
  const auto *constant = argument<const float *>(params, 4);
  norm[0] = batch[0] + 10 * batch[3];
  norm[1] = buffer[1] + constant[1];
  norm[2] = settings->f32[3];
  norm[3] = settings->f64[7];
}

static void describeAll(veeline_rank *rank, char *, const void *const *batch) {
  char *first = static_cast<char *>(veeline_norm(rank, 0));
  EXPECT_EQ(static_cast<char *>(veeline_norm(rank, 1)) - first, 16);
  // The first input is one that the rank does not read.
  EXPECT_EQ(batch[0], nullptr);
  const uint64_t arguments[] = {toArgument(first), toArgument(batch[1]),
                                toArgument(batch[2]),
                                toArgument(veeline_settings(rank)),
                                toArgument(veeline_constant(rank, 0))};
  veeline_launch(rank, 0, arguments);
}

TEST(CudaStep, InputsConstantsSettingsAndNorms) {
  cts::Fixture fixture({describeAll}, 8192);
  artifact::Metadata &metadata = fixture.metadata();
  metadata.microbatches = 2;
  metadata.optimizer = Optimizer::adamw;
  metadata.batches.push_back({"x", {2}, DataType::f32, {}});
  metadata.buffers.push_back({"y", {2}, DataType::f32, {}});
  artifact::Rank &rank = fixture.rank(0);
  rank.inputs = {{1, 1024, 16}, {2, 1280, 8}};
  rank.constants = {{0, 1536, 8}};
  rank.settingsOffset = 1792;
  rank.normsOffset = 2048;
  rank.normParts = 2;
  fixture.addParam(0, {2}, DataType::f32, 2304, 2560);
  fixture.addParam(0, {2}, DataType::f32, 2816, 3072);
  float numbers[] = {100, 200};
  fixture.whole().values = {
      std::string_view(reinterpret_cast<char *>(numbers), sizeof(numbers))};
  test::addKernel(fixture, "describe", describe, 5);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  for (int step = 1; step <= 3; ++step) {
    float batch[] = {1, 2, 3, 4 + static_cast<float>(step)};
    float buffer[] = {5, 6};
    const void *inputs[] = {nullptr, batch, buffer};
    StepSettings settings;
    settings.step = step;
    settings.learningRate = 0.25;
    ASSERT_TRUE(fixture.executor().begin(inputs, settings).ok());
    StepResult result;
    Status status = fixture.executor().finish(result);
    ASSERT_TRUE(status.ok()) << status.message();
    double rate = static_cast<float>(0.25 / (1 - std::pow(0.9, step)));
    double sum = 1 + 10 * (4 + step) + (6 + 200);
    EXPECT_DOUBLE_EQ(result.gradientNorm,
                     std::sqrt(sum + (rate + (1 - 0.999))));
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static constexpr int32_t numMessages = 4;
static constexpr int64_t messageBytes = 256;

/// Rank 0 makes numbers and gets them back, doubled by rank 1. The places of
/// messages are used again as early as that is right.
static void makeNumbers(veeline_rank *rank, char *arena, const void *const *) {
  char *made = arena, *back = arena + 256, *all = arena + 512;
  for (int32_t i = 0; i < numMessages; ++i) {
    const uint64_t arguments[] = {toArgument(made), toArgument(made),
                                  toArgument(1.0f), toArgument<int8_t>(1)};
    veeline_launch(rank, 0, arguments);
    veeline_group_begin(rank);
    veeline_recv_post(rank, 1, back);
    veeline_send(rank, 0, i, made);
    veeline_group_end(rank);
    veeline_recv_wait(rank, 1);
    veeline_copy(rank, all + messageBytes * i, back, messageBytes);
  }
}

static void doubleNumbers(veeline_rank *rank, char *arena,
                          const void *const *) {
  char *place = arena, *twice = arena + 256;
  veeline_recv_post(rank, 0, place);
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_recv_wait(rank, 0);
    const uint64_t arguments[] = {toArgument(twice), toArgument(place),
                                  toArgument(2.0f), toArgument<int8_t>(0)};
    veeline_launch(rank, 0, arguments);
    if (i + 1 < numMessages)
      veeline_recv_post(rank, 0, place);
    veeline_send(rank, 1, i, twice);
  }
}

TEST(CudaStep, MessagesUnderEveryOrder) {
  test::OrderGuard guard;
  for (const std::string &order : test::allOrders(20)) {
    standin::setOrder(order);
    cts::Fixture fixture({makeNumbers, doubleNumbers}, 4096);
    fixture.metadata().microbatches = numMessages;
    fixture.addChannel(0, 1, messageBytes, numMessages);
    fixture.addChannel(1, 0, messageBytes, numMessages);
    fixture.program().channels[1].stream = 2;
    test::addKernel(fixture, "scale", scale, 4, {1, 1, 1},
                    {messageBytes / 4, 1, 1});
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    std::vector<float> zeros(messageBytes / 4);
    ASSERT_TRUE(
        fixture.executor().write(0, 0, zeros.data(), messageBytes).ok());
    for (int step = 0; step < 5; ++step) {
      Status status = fixture.step();
      ASSERT_TRUE(status.ok()) << status.message();
      std::vector<float> all(numMessages * messageBytes / 4);
      ASSERT_TRUE(fixture.executor()
                      .read(0, 512, all.data(), numMessages * messageBytes)
                      .ok());
      for (int32_t i = 0; i < numMessages; ++i)
        ASSERT_EQ(all[i * messageBytes / 4 + 17],
                  2.0f * static_cast<float>(step * numMessages + i + 1))
            << order << ", step " << step << ", message " << i;
    }
  }
}

static void sendEach(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_send(rank, 0, i, arena);
    veeline_op_end(rank, i);
  }
}

static void receiveEach(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, i);
  }
}

/// If `isDamaged`, the sender's table of operations has another microbatch
/// first.
static Status runDamaged(bool isDamaged, bool checkMessages) {
  cts::Fixture fixture({sendEach, receiveEach}, 4096);
  fixture.metadata().microbatches = numMessages;
  fixture.addChannel(0, 1, messageBytes, numMessages);
  for (size_t rank = 0; rank < 2; ++rank)
    for (int32_t i = 0; i < numMessages; ++i)
      fixture.rank(rank).ops.push_back({artifact::OpKind::recv, 0, i});
  if (isDamaged)
    std::swap(fixture.rank(0).ops[0].microbatch,
              fixture.rank(0).ops[1].microbatch);
  test::makeForGpu(fixture.whole());
  cuda::CudaOptions options = test::standIns();
  options.steps = {sendEach, receiveEach};
  options.checkMessages = checkMessages;
  auto executor =
      cuda::CudaExecutor::create(fixture.whole(), fixture.program(), options);
  if (!executor.ok())
    return executor.status();
  Status status = Status::success();
  const std::vector<int64_t> unused(numMessages);
  const void *inputs[] = {nullptr, unused.data()};
  for (int step = 0; step < 3 && status.ok(); ++step) {
    StepResult result;
    status = (*executor)->begin(inputs, {});
    if (status.ok())
      status = (*executor)->finish(result);
  }
  return status;
}

/// Messages are checked if that is asked for, and always in builds with checks.
TEST(CudaStep, MessageOfAnotherMicrobatch) {
  EXPECT_EQ(runDamaged(true, true).message(),
            "rank 1, op 0: channel 0: activation 0 of microbatch 1 with 256 "
            "bytes arrived, expected activation 0 of microbatch 0 with 256 "
            "bytes");
  EXPECT_EQ(runDamaged(true, false).ok(), !checksEnabled);
  Status right = runDamaged(false, true);
  EXPECT_TRUE(right.ok()) << right.message();
}

//===----------------------------------------------------------------------===//
// Replicas
//===----------------------------------------------------------------------===//

/// Brings its numbers to the accumulators late, and copies the sums early.
static void addUp(veeline_rank *rank, char *arena, const void *const *) {
  veeline_copy(rank, arena, arena + 16384, 4 * test::numSummed);
  veeline_reduce_post(rank, 0);
  veeline_zero(rank, arena + 65536, 64);
  veeline_reduce_wait(rank, 0);
  veeline_copy(rank, arena + 32768, arena, 4 * test::numSummed);
  veeline_zero(rank, arena, 4 * test::numSummed);
}

TEST(CudaStep, ReplicasAddUpInTheirOrder) {
  test::OrderGuard guard;
  for (const std::string &order : test::allOrders(10)) {
    SCOPED_TRACE(order);
    standin::setOrder(order);
    cts::Fixture fixture({addUp, addUp, addUp}, 1 << 17);
    ASSERT_NO_FATAL_FAILURE(
        fixture.create(test::makeReplicas(fixture, /*stream=*/3)));
    for (int32_t rank = 0; rank < 3; ++rank)
      test::writeContribution(fixture.executor(), rank);
    for (int step = 0; step < 3; ++step) {
      Status status = fixture.step();
      ASSERT_TRUE(status.ok()) << status.message();
      for (int32_t rank = 0; rank < 3; ++rank)
        test::expectSums(fixture.executor(), rank);
    }
  }
}

TEST(CudaStep, ReplicasThatDoNotMeet) {
  auto messageOf = [](std::vector<veeline_step_fn> steps) {
    cts::Fixture fixture(std::move(steps), 1 << 17);
    fixture.create(test::makeReplicas(fixture, /*stream=*/3));
    Status status = fixture.step();
    return status.ok() ? "" : status.message();
  };
  auto waitOnly = [](veeline_rank *rank, char *, const void *const *) {
    veeline_reduce_wait(rank, 0);
  };
  auto nothing = [](veeline_rank *, char *, const void *const *) {};
  EXPECT_EQ(messageOf({addUp, addUp, waitOnly}),
            "rank 2: gradients of replicas are waited for, but none were "
            "posted");
  EXPECT_NE(messageOf({addUp, nothing, addUp})
                .find("rank 0 waits for the gradients of chunk 0 of ranks 1, "
                      "2; rank 1 has ended its step"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// From the second step on, a step is one launch of a graph for all ranks
/// together. Step functions run in the first step and for the capture, and
/// never again.
TEST(CudaStep, GraphsAreReplayed) {
  static std::atomic<int> numRuns;
  auto count = [](veeline_rank *rank, char *arena, const void *const *batch) {
    ++numRuns;
    makeNumbers(rank, arena, batch);
  };
  auto run = [&](cts::Fixture &fixture, int steps) {
    fixture.metadata().microbatches = numMessages;
    fixture.addChannel(0, 1, messageBytes, numMessages);
    fixture.addChannel(1, 0, messageBytes, numMessages);
    test::addKernel(fixture, "scale", scale, 4, {1, 1, 1},
                    {messageBytes / 4, 1, 1});
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    std::vector<float> zeros(messageBytes / 4);
    ASSERT_TRUE(
        fixture.executor().write(0, 0, zeros.data(), messageBytes).ok());
    numRuns = 0;
    for (int step = 0; step < steps; ++step)
      ASSERT_TRUE(fixture.step().ok());
  };
  int64_t launches = standin::countCalls("cuGraphLaunch");
  {
    cts::Fixture fixture({count, doubleNumbers}, 4096);
    ASSERT_NO_FATAL_FAILURE(run(fixture, 10));
  }
  EXPECT_EQ(numRuns, 2);
  EXPECT_EQ(standin::countCalls("cuGraphLaunch") - launches, 9);
  // Steps that read back are not captured: they decide each time.
  cts::Fixture fixture({count, doubleNumbers}, 4096);
  fixture.rank(1).readsBack = true;
  ASSERT_NO_FATAL_FAILURE(run(fixture, 10));
  EXPECT_EQ(numRuns, 10);
  EXPECT_EQ(standin::countCalls("cuGraphLaunch") - launches, 9);
}

/// A graph begins when the inputs of all ranks are there.
TEST(CudaStep, GraphsComeAfterInputs) {
  test::OrderGuard guard;
  auto keep = [](veeline_rank *rank, char *arena, const void *const *batch) {
    veeline_copy(rank, arena + 1024, batch[1], 8);
  };
  for (const char *order : {"late", "random:1", "random:2", "random:3"}) {
    standin::setOrder(order);
    cts::Fixture fixture({keep, keep, keep}, 4096);
    fixture.metadata().batches.push_back({"x", {1}, DataType::i64, {}});
    for (size_t rank = 0; rank < 3; ++rank)
      fixture.rank(rank).inputs = {{1, 256, 8}};
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    for (int64_t step = 1; step <= 6; ++step) {
      const void *inputs[] = {nullptr, &step};
      StepResult result;
      ASSERT_TRUE(fixture.executor().begin(inputs, {}).ok());
      ASSERT_TRUE(fixture.executor().finish(result).ok());
      for (int32_t rank = 0; rank < 3; ++rank) {
        int64_t seen = 0;
        ASSERT_TRUE(fixture.executor().read(rank, 1024, &seen, 8).ok());
        ASSERT_EQ(seen, step) << order << ", rank " << rank;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// What steps must not do
//===----------------------------------------------------------------------===//

static std::string messageOf(std::vector<veeline_step_fn> steps) {
  cts::Fixture fixture(std::move(steps));
  fixture.addChannel(0, 1, 8, 1);
  fixture.create();
  Status status = fixture.step();
  EXPECT_FALSE(fixture.step().ok()) << "an executor that failed runs again";
  return status.ok() ? "" : status.message();
}

static void doNothing(veeline_rank *, char *, const void *const *) {}

TEST(CudaStep, CallsOfTheHost) {
  std::string rest = ", which code for a GPU never does: the artifact's target "
                     "is cuda";
  auto acquire = [](veeline_rank *rank, char *, const void *const *) {
    veeline_send_acquire(rank, 0);
  };
  EXPECT_EQ(messageOf({acquire, doNothing}),
            "rank 0: a place at the receiver is asked for" + rest);
  auto commit = [](veeline_rank *rank, char *, const void *const *) {
    veeline_send_commit(rank, 0);
  };
  EXPECT_EQ(messageOf({commit, doNothing}),
            "rank 0: a message is committed" + rest);
  auto update = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_update(rank, 0, arena, nullptr, nullptr, 0);
  };
  EXPECT_EQ(messageOf({update, doNothing}),
            "rank 0: a parameter is updated by the host" + rest);
}

TEST(CudaStep, MessagesThatNobodyMeets) {
  auto receive = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
  };
  auto send = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_send(rank, 0, 0, arena);
  };
  auto waitOnly = [](veeline_rank *rank, char *, const void *const *) {
    veeline_recv_wait(rank, 0);
  };
  EXPECT_NE(messageOf({doNothing, receive})
                .find("rank 1 waits for a message of rank 0 (channel 0"),
            std::string::npos);
  EXPECT_NE(messageOf({send, doNothing})
                .find("rank 0 waits for a place to send to from rank 1"),
            std::string::npos);
  EXPECT_EQ(messageOf({send, waitOnly}),
            "rank 1: channel 0 is waited for, but nothing was posted");
}
