//===- CudaTimelineTest.cpp - when a GPU did what -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <chrono>
#include <thread>

using namespace veeline;
using artifact::OpKind;

static constexpr int64_t napNanoseconds = 3'000'000;

/// Takes the GPU a while; the host that launches it goes on at once.
static void nap(const void *const *, const uint32_t *, const uint32_t *) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(napNanoseconds));
}

/// A forward and a send.
static void computeAndSend(veeline_rank *rank, char *arena,
                           const void *const *) {
  const uint64_t arguments[] = {test::toArgument(arena)};
  veeline_op_begin(rank, 0);
  veeline_launch(rank, 0, arguments);
  veeline_op_end(rank, 0);
  veeline_op_begin(rank, 1);
  veeline_send(rank, 0, 0, arena);
  veeline_op_end(rank, 1);
}

/// A receive and a forward.
static void receiveAndCompute(veeline_rank *rank, char *arena,
                              const void *const *) {
  const uint64_t arguments[] = {test::toArgument(arena)};
  veeline_op_begin(rank, 0);
  veeline_recv_post(rank, 0, arena);
  veeline_recv_wait(rank, 0);
  veeline_op_end(rank, 0);
  veeline_op_begin(rank, 1);
  veeline_launch(rank, 0, arguments);
  veeline_op_end(rank, 1);
}

namespace {
class CudaTimeline : public testing::Test {
protected:
  CudaTimeline() {
    fixture.addChannel(0, 1, 64, 1);
    test::addKernel(fixture, "nap", nap, 1);
    for (size_t rank : {0, 1})
      fixture.rank(rank).ops.resize(2);
    setOp(0, 0, OpKind::forward);
    setOp(0, 1, OpKind::send);
    setOp(1, 0, OpKind::recv);
    setOp(1, 1, OpKind::forward);
    options.steps = {computeAndSend, receiveAndCompute};
    options.timelineEvents = 12;
  }

  void setOp(size_t rank, size_t index, OpKind kind) {
    artifact::Op &op = fixture.rank(rank).ops[index];
    op.kind = kind;
    op.microbatch = 0;
    if (kind == OpKind::forward)
      op.chunk = static_cast<int32_t>(rank);
    else
      op.channel = 0;
  }

  void create() {
    auto created = cuda::CudaExecutor::create(
        fixture.whole(), fixture.whole().metadata.programs[0], options);
    ASSERT_TRUE(created.ok()) << created.message();
    executor = std::move(*created);
  }

  Status step(int64_t number) {
    char context = 0;
    const void *inputs[] = {&context};
    StepSettings settings;
    settings.step = number;
    StepResult result;
    Status status = executor->begin(inputs, settings);
    return status.ok() ? executor->finish(result) : status;
  }

  test::OrderGuard guard;
  cts::Fixture fixture{{computeAndSend, receiveAndCompute}};
  cuda::CudaOptions options = test::standIns();
  std::unique_ptr<cuda::CudaExecutor> executor;
};
} // namespace

static bool isIdle(const engine::Event &event) {
  return event.op == engine::Event::idle;
}

/// A wait for a message ends after its sender has computed it, in times of the
/// GPU, of which the receiver's host knows nothing.
TEST_F(CudaTimeline, TimesOfTheGpu) {
  for (const char *order : {"late", "fifo", "random:4"}) {
    standin::setOrder(order);
    ASSERT_NO_FATAL_FAILURE(create());
    for (int64_t number = 1; number <= 4; ++number) {
      Status status = step(number);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    // Two steps of those that are kept.
    std::vector<std::vector<engine::Event>> ranks = executor->timeline(2);
    ASSERT_EQ(ranks.size(), 2u);
    // The receiver waits meanwhile.
    EXPECT_EQ(std::erase_if(ranks[0], isIdle), 0u);
    EXPECT_EQ(std::erase_if(ranks[1], isIdle), 2u);
    for (const std::vector<engine::Event> &events : ranks)
      ASSERT_EQ(events.size(), 4u);
    for (size_t i = 0; i < 4; i += 2) {
      const engine::Event *first = &ranks[0][i], *second = &ranks[1][i];
      for (const engine::Event *rank : {first, second})
        for (int32_t op : {0, 1}) {
          EXPECT_EQ(rank[op].op, op);
          EXPECT_EQ(rank[op].step, i == 0 ? 3 : 4);
          EXPECT_LE(rank[op].begin, rank[op].end);
        }
      EXPECT_GE(first[0].end - first[0].begin, napNanoseconds);
      EXPECT_LE(first[0].end, first[1].end);
      EXPECT_GE(second[0].end, first[0].end);
      EXPECT_LE(second[0].end, second[1].begin);
      EXPECT_GE(second[1].end - second[1].begin, napNanoseconds);
    }
    EXPECT_LE(ranks[0][1].end, ranks[0][2].begin);
    executor.reset();
  }
}

/// Where the GPU gives no times any more, there are those of the host.
TEST_F(CudaTimeline, AfterAFault) {
  ASSERT_NO_FATAL_FAILURE(create());
  ASSERT_TRUE(step(1).ok());
  standin::failCall("cuEventElapsedTime", 1, 719);
  standin::failCall("cuLaunchKernel", 2, 719);
  Status status = step(2);
  standin::failCall("", 0, 0);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("CUDA_ERROR_LAUNCH_FAILED"),
            std::string::npos);
  for (const std::vector<engine::Event> &events : executor->timeline(2)) {
    ASSERT_GE(events.size(), 2u);
    for (const engine::Event &event : events)
      EXPECT_LE(event.begin, event.end);
  }
}
