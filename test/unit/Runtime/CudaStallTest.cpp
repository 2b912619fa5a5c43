//===- CudaStallTest.cpp - kernels that never end -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In processes of their own: what a GPU may still use is never given back.
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <malloc.h>
#include <thread>
#include <unistd.h>

using namespace veeline;
using artifact::OpKind;
using test::toArgument;

static void idle(const void *const *, const uint32_t *, const uint32_t *) {}

static void sleepAWhile(const void *const *, const uint32_t *,
                        const uint32_t *) {
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
}

static void launch(veeline_rank *rank, int32_t kernel, char *arena) {
  const uint64_t arguments[] = {toArgument(arena)};
  veeline_launch(rank, kernel, arguments);
}

static constexpr int32_t numMicrobatches = 3;

/// Runs F of each microbatch, which is kernel 0, and sends its result.
static void produce(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMicrobatches; ++i) {
    veeline_op_begin(rank, i);
    launch(rank, 0, arena);
    veeline_send(rank, 0, i, arena);
    veeline_op_end(rank, i);
  }
}

static void consume(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMicrobatches; ++i) {
    veeline_op_begin(rank, i);
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, i);
  }
}

/// The same, but reads back what it has computed.
static void produceAndLook(veeline_rank *rank, char *arena,
                           const void *const *) {
  for (int32_t i = 0; i < numMicrobatches; ++i) {
    veeline_op_begin(rank, i);
    launch(rank, 0, arena);
    veeline_load(rank, arena, 4);
    veeline_send(rank, 0, i, arena);
    veeline_op_end(rank, i);
  }
}

/// Launches more than a stream takes.
static void produceMuch(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMicrobatches; ++i) {
    veeline_op_begin(rank, i);
    for (int k = 0; k < 50; ++k)
      launch(rank, 0, arena);
    veeline_send(rank, 0, i, arena);
    veeline_op_end(rank, i);
  }
}

static void failLate(veeline_rank *rank, char *, const void *const *) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  rank->fail("something else");
}

namespace {
class Program {
public:
  Program(std::vector<veeline_step_fn> steps, standin::Kernel kernel)
      : fixture(steps) {
    fixture.metadata().microbatches = numMicrobatches;
    fixture.addChannel(0, 1, 64, numMicrobatches);
    for (int32_t i = 0; i < numMicrobatches; ++i) {
      fixture.rank(0).ops.push_back({OpKind::forward, 0, i});
      fixture.rank(1).ops.push_back({OpKind::recv, -1, i});
    }
    test::addKernel(fixture, "maybe-endless", kernel, 1);
    options = test::standIns();
    options.steps = std::move(steps);
    options.stallSeconds = 0.4;
    options.timeoutSeconds = 20;
  }

  std::string run(int steps) {
    auto created =
        cuda::CudaExecutor::create(fixture.whole(), fixture.program(), options);
    if (!created.ok())
      return created.message();
    for (int step = 1; step <= steps; ++step)
      if (Status status = test::runStep(**created); !status.ok())
        return "step " + std::to_string(step) + ": " + status.message();
    return "";
  }

  cts::Fixture fixture;
  cuda::CudaOptions options;
};

class CudaStallDeathTest : public testing::Test {
protected:
  CudaStallDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};
} // namespace

/// Runs four steps, in which run `nth` of the kernel never ends, and ends the
/// process: with 7 if the executor is gone and has said that work is left.
[[noreturn]] static void runAndEnd(Program &program, int64_t nth,
                                   size_t queued = SIZE_MAX) {
  standin::neverEnd("maybe-endless", nth, queued);
  std::fprintf(stderr, "<%s>\n", program.run(4).c_str());
  ::_exit(cuda::hasAbandonedWork() ? 7 : 8);
}

static const char *const ofFirst =
    "rank 0 has made no progress for 0.4 s .--stall-timeout.; rank 0 is at F "
    "of "
    "chunk "
    "0, microbatch 1; rank 1 is at recv, microbatch 1>";

/// Each step has three runs of the kernel, of which the second one is of
/// microbatch 1.
TEST_F(CudaStallDeathTest, AtTheEndOfAStep) {
  for (bool isEager : {true, false})
    for (int step : {1, 2, 4}) {
      Program program({produce, consume}, idle);
      program.options.isEager = isEager;
      EXPECT_EXIT(runAndEnd(program, 3 * (step - 1) + 2),
                  testing::ExitedWithCode(7),
                  "<step " + std::to_string(step) + ": " + ofFirst);
    }
}

TEST_F(CudaStallDeathTest, InALoad) {
  Program program({produceAndLook, consume}, idle);
  program.fixture.rank(0).readsBack = true;
  // The other rank's host waits for the message.
  EXPECT_EXIT(
      runAndEnd(program, 5), testing::ExitedWithCode(7),
      "<step 2: rank 0 has made no progress for 0.4 s .--stall-timeout.; "
      "rank 0 is at F of chunk 0, microbatch 1; rank 1 is at recv, "
      "microbatch 1, and waits for a message of rank 0 .channel 0, "
      "activation 0.>");
}

/// The driver blocks a host that issues more than a stream takes.
TEST_F(CudaStallDeathTest, WhereTheDriverHolds) {
  Program program({produceMuch, consume}, idle);
  program.options.isEager = true;
  EXPECT_EXIT(
      runAndEnd(program, 70, 20), testing::ExitedWithCode(7),
      "<step 1: rank 0 has made no progress for 0.4 s .--stall-timeout.; "
      "rank 0 is at F of chunk 0, microbatch 1; rank 1 is at recv, "
      "microbatch 1, and waits for a message of rank 0");
}

/// The driver lets go of the thread once the executor is gone; what the thread
/// uses must not be gone.
TEST_F(CudaStallDeathTest, WhereTheDriverLetsGo) {
  Program program({produceMuch, consume}, idle);
  program.options.isEager = true;
  auto letGo = [&] {
    // Freed memory loses its content.
    (void)::mallopt(M_PERTURB, 0x5a);
    standin::neverEnd("maybe-endless", 70, 20);
    std::fprintf(stderr, "<%s>\n", program.run(1).c_str());
    auto countThreads = [] {
      return std::distance(
          std::filesystem::directory_iterator("/proc/self/task"), {});
    };
    auto before = countThreads();
    standin::neverEnd("", 0, SIZE_MAX);
    for (int i = 0; i < 500 && countThreads() == before; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::_exit(countThreads() < before ? 7 : 8);
  };
  EXPECT_EXIT(letGo(), testing::ExitedWithCode(7),
              "<step 1: rank 0 has made no progress");
}

/// After a fault, the wait is no longer than that for processes.
TEST_F(CudaStallDeathTest, AfterAnotherFault) {
  Program program({failLate, consume}, idle);
  program.options.stallSeconds = 3600;
  program.options.timeoutSeconds = 0.4;
  auto hang = [](veeline_rank *rank, char *arena, const void *const *) {
    launch(rank, 0, arena);
  };
  program.options.steps = {hang, failLate};
  EXPECT_EXIT(runAndEnd(program, 1), testing::ExitedWithCode(7),
              "<step 1: rank 1: something else>");
}

/// The limit is for operations, not for steps.
TEST(CudaStall, StepsMayTakeLonger) {
  for (bool isEager : {true, false}) {
    Program program({produce, consume}, sleepAWhile);
    program.options.isEager = isEager;
    program.options.stallSeconds = 0.3;
    EXPECT_EQ(program.run(3), "");
    EXPECT_FALSE(cuda::hasAbandonedWork());
    EXPECT_EQ(standin::countLive(), 0);
  }
}
