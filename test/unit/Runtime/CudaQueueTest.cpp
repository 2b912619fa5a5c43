//===- CudaQueueTest.cpp - steps of a GPU that follow one another ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace veeline;
using artifact::DataType;
using test::argument;
using test::toArgument;

static constexpr int64_t input = 1024, settings = 1280, norms = 1536,
                         results = 1792, message = 2048;

/// target = 3 * source
static void triple(const void *const *params, const uint32_t *,
                   const uint32_t *) {
  *argument<float *>(params, 0) = 3 * *argument<const float *>(params, 1);
}

/// norm = rate * value
static void measure(const void *const *params, const uint32_t *,
                    const uint32_t *) {
  auto *norm = argument<double *>(params, 0);
  const auto *numbers = argument<const struct veeline_settings *>(params, 1);
  *norm = numbers->f64[3] * *argument<const float *>(params, 2);
}

/// Of the first rank.
static std::atomic<int> stepsIssued{0};

static void produce(veeline_rank *rank, char *arena, const void *const *batch) {
  ++stepsIssued;
  const uint64_t arguments[] = {toArgument(arena + message),
                                toArgument(batch[1])};
  veeline_launch(rank, 0, arguments);
  veeline_send(rank, 0, 0, arena + message);
}

/// Reports what arrives, which is overwritten at once.
static void consume(veeline_rank *rank, char *arena, const void *const *) {
  char *place = arena + message;
  veeline_recv_post(rank, 0, place);
  veeline_recv_wait(rank, 0);
  const uint64_t arguments[] = {toArgument(veeline_norm(rank, 0)),
                                toArgument(veeline_settings(rank)),
                                toArgument(place)};
  veeline_launch(rank, 1, arguments);
  veeline_report(rank, 0, 0, place);
  veeline_zero(rank, place, 4);
}

static constexpr int64_t kept = 2816, settingsBefore = 3072;

/// Measures what the step before has received, with its settings.
static void measureLate(veeline_rank *rank, char *arena) {
  veeline_late_begin(rank);
  veeline_op_begin(rank, 0);
  const uint64_t arguments[] = {toArgument(veeline_norm(rank, 0)),
                                toArgument(veeline_settings(rank)),
                                toArgument(arena + kept)};
  veeline_launch(rank, 1, arguments);
  veeline_op_end(rank, 0);
  veeline_late_end(rank, 1);
}

static void consumeFirst(veeline_rank *rank, char *arena, const void *const *) {
  char *place = arena + message;
  veeline_recv_post(rank, 0, place);
  veeline_recv_wait(rank, 0);
  veeline_report(rank, 0, 0, place);
  veeline_copy(rank, arena + kept, place, 4);
  veeline_zero(rank, place, 4);
}

static void consumeWhole(veeline_rank *rank, char *arena,
                         const void *const *batch) {
  measureLate(rank, arena);
  consumeFirst(rank, arena, batch);
}

static void consumeLate(veeline_rank *rank, char *arena, const void *const *) {
  measureLate(rank, arena);
}

namespace {
/// Two ranks. Step i, from 1, reads i, reports 3 i, and has norms of 3 i times
/// its rate.
class Program {
public:
  explicit Program(std::vector<veeline_step_fn> steps = {produce, consume})
      : fixture(steps) {
    fixture.addChannel(0, 1, 4, 1);
    fixture.metadata().batches.push_back({"x", {1}, DataType::f32, {}});
    fixture.rank(0).inputs = {{1, input, 4}};
    artifact::Rank &last = fixture.rank(1);
    last.settingsOffset = settings;
    last.normsOffset = norms;
    last.normParts = 1;
    last.resultsOffset = results;
    fixture.addParam(1, {1}, DataType::f32, 2304, -1);
    test::addKernel(fixture, "triple", triple, 2);
    test::addKernel(fixture, "measure", measure, 3);
    options = test::standIns();
    options.steps = std::move(steps);
    stepsIssued = 0;
  }

  /// What the last rank measures, it does in the next step.
  void makeLate() {
    artifact::Rank &last = fixture.rank(1);
    last.firstStepSymbol = "first";
    last.lateSymbol = "late";
    last.settingsBeforeOffset = settingsBefore;
    artifact::Op &update = last.ops.emplace_back();
    update.kind = artifact::OpKind::update;
    update.param = 0;
    update.late = true;
    options.steps[1] = consumeWhole;
    options.lateFunctions = {{}, {consumeFirst, consumeLate}};
  }

  void create() {
    Status valid = artifact::validate(fixture.whole());
    ASSERT_TRUE(valid.ok()) << valid.message();
    auto created =
        cuda::CudaExecutor::create(fixture.whole(), fixture.program(), options);
    ASSERT_TRUE(created.ok()) << created.message();
    executor = std::move(*created);
  }

  Status begin() {
    int64_t number = ++numBegun;
    values[number] = static_cast<float>(number);
    const void *inputs[] = {nullptr, &values[number]};
    StepSettings ofStep;
    ofStep.step = number;
    ofStep.learningRate = rateOf(number);
    return executor->begin(inputs, ofStep);
  }

  static double rateOf(int64_t number) { return 1 / double(number + 1); }

  void expectStep() {
    int64_t number = ++numFinished;
    StepResult result;
    Status status = executor->finish(result);
    ASSERT_TRUE(status.ok()) << status.message();
    expectResult(result, number);
  }

  static void expectResult(const StepResult &result, int64_t number) {
    EXPECT_EQ(result.results, std::vector<double>{3.0 * double(number)});
    EXPECT_DOUBLE_EQ(result.gradientNorm,
                     std::sqrt(rateOf(number) * 3 * double(number)));
  }

  cts::Fixture fixture;
  cuda::CudaOptions options;
  std::unique_ptr<cuda::CudaExecutor> executor;
  float values[64] = {};
  int64_t numBegun = 0, numFinished = 0;
};
} // namespace

/// As many steps as may be are always in flight; each has its own inputs,
/// settings, results and norms.
TEST(CudaQueue, OfEachStep) {
  test::OrderGuard guard;
  for (const std::string &order : test::allOrders(6))
    for (bool isEager : {true, false}) {
      standin::setOrder(order);
      Program program;
      program.options.isEager = isEager;
      ASSERT_NO_FATAL_FAILURE(program.create());
      ASSERT_EQ(program.executor->maxStepsInFlight(), 2);
      ASSERT_TRUE(program.begin().ok());
      for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(program.begin().ok());
        ASSERT_NO_FATAL_FAILURE(program.expectStep()) << order;
      }
      ASSERT_NO_FATAL_FAILURE(program.expectStep());
      // The queue may run empty, and fill again.
      for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(program.begin().ok());
        ASSERT_NO_FATAL_FAILURE(program.expectStep());
      }
    }
  EXPECT_EQ(standin::countLive(), 0);
}

/// The same where a driver does not capture memsets of the host's memory: marks
/// are written in another way.
TEST(CudaQueue, WithoutMemsetsOfTheHost) {
  test::Environment refused("VEELINE_STANDIN_FILLS", "device");
  for (bool isLate : {false, true}) {
    int64_t writes = standin::countCalls("cuStreamWriteValue32_v2");
    Program program;
    if (isLate)
      program.makeLate();
    ASSERT_NO_FATAL_FAILURE(program.create());
    ASSERT_TRUE(program.begin().ok());
    for (int i = 0; i < 6; ++i) {
      Status status = program.begin();
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_NO_FATAL_FAILURE(program.expectStep());
    }
    ASSERT_NO_FATAL_FAILURE(program.expectStep());
    EXPECT_GT(standin::countCalls("cuStreamWriteValue32_v2"), writes);
  }
}

/// The same where the norm of a step is known in the next one, or alone.
TEST(CudaQueue, LateOfEachStep) {
  test::OrderGuard guard;
  std::vector<std::string> orders = test::allOrders(4);
  orders.push_back("slow");
  for (const std::string &order : orders)
    for (bool isEager : {true, false})
      for (int32_t most : {1, 2}) {
        standin::setOrder(order);
        auto launches = standin::countCalls("cuGraphLaunch");
        Program program;
        program.makeLate();
        program.options.isEager = isEager;
        program.options.stepsInFlight = most;
        ASSERT_NO_FATAL_FAILURE(program.create());
        // The queue runs empty after as many steps.
        for (int count : {1, 7, 2, 3, 4, 5}) {
          for (int i = 0; i < count; ++i) {
            ASSERT_TRUE(program.begin().ok());
            if (i + 1 >= most)
              ASSERT_NO_FATAL_FAILURE(program.expectStep())
                  << order << " " << most << " " << i;
          }
          while (program.numFinished != program.numBegun)
            ASSERT_NO_FATAL_FAILURE(program.expectStep()) << order;
        }
        if (most == 1)
          EXPECT_EQ(standin::countCalls("cuGraphLaunch") - launches,
                    isEager ? 0 : 1 + 7 + 2 + 3 + 4 + 5 - 1);
        EXPECT_EQ(standin::countCalls("cuGraphLaunch") > launches, !isEager);
        program.executor.reset();
        EXPECT_EQ(standin::countLive(), 0);
      }
}

/// A step counts once all that is late of it has run.
TEST(CudaQueue, FaultBesideLateWork) {
  auto failBefore = [](veeline_rank *rank, char *, const void *const *) {
    veeline_late_begin(rank);
    rank->fail("something happened");
  };
  auto failAfter = [](veeline_rank *rank, char *arena, const void *const *) {
    measureLate(rank, arena);
    rank->fail("something happened");
  };
  for (bool isBefore : {true, false}) {
    Program program;
    program.makeLate();
    program.options.steps[1] = isBefore ? +failBefore : +failAfter;
    ASSERT_NO_FATAL_FAILURE(program.create());
    ASSERT_TRUE(program.begin().ok());
    ASSERT_TRUE(program.begin().ok());
    if (!isBefore)
      ASSERT_NO_FATAL_FAILURE(program.expectStep());
    StepResult result;
    EXPECT_EQ(program.executor->finish(result).message(),
              "rank 1: something happened");
    EXPECT_EQ(program.executor->currentStep(), isBefore ? 1 : 2);
    program.executor.reset();
    EXPECT_EQ(standin::countLive(), 0);
  }
}

/// With one step in flight, late work runs between graphs.
TEST(CudaQueue, FaultOfLateWorkBetweenGraphs) {
  static int runsLeft;
  auto failLast = [](veeline_rank *rank, char *arena,
                     const void *const *inputs) {
    consumeLate(rank, arena, inputs);
    if (--runsLeft == 0)
      rank->fail("something happened");
  };
  // The first step is issued, the second is captured, later ones are replayed.
  for (int count : {1, 2, 3, 5}) {
    runsLeft = count;
    Program program;
    program.makeLate();
    program.options.stepsInFlight = 1;
    program.options.lateFunctions[1].late = failLast;
    ASSERT_NO_FATAL_FAILURE(program.create());
    for (int i = 1; i < count; ++i) {
      ASSERT_TRUE(program.begin().ok());
      ASSERT_NO_FATAL_FAILURE(program.expectStep()) << i;
    }
    ASSERT_TRUE(program.begin().ok());
    StepResult result;
    EXPECT_EQ(program.executor->finish(result).message(),
              "rank 1: something happened");
    EXPECT_EQ(program.executor->currentStep(), count);
    EXPECT_FALSE(program.begin().ok());
    program.executor.reset();
    EXPECT_EQ(standin::countLive(), 0);
  }
}

template <typename Condition> static bool becomesTrue(Condition condition) {
  for (int i = 0; i < 2000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

/// The next step is issued while the device is still in this one.
TEST(CudaQueue, DeviceNeverWaitsForTheHost) {
  for (bool isEager : {true, false}) {
    Program program;
    program.options.isEager = isEager;
    ASSERT_NO_FATAL_FAILURE(program.create());
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(program.begin().ok());
      ASSERT_NO_FATAL_FAILURE(program.expectStep());
    }
    int64_t launches = standin::countCalls("cuGraphLaunch");
    standin::neverEnd("triple", 1, SIZE_MAX);
    ASSERT_TRUE(program.begin().ok());
    ASSERT_TRUE(program.begin().ok());
    EXPECT_TRUE(becomesTrue([&] {
      return isEager ? stepsIssued == 4
                     : standin::countCalls("cuGraphLaunch") == launches + 2;
    }));
    // The run ends now, and has done nothing.
    standin::neverEnd("", 0, SIZE_MAX);
    StepResult result;
    EXPECT_TRUE(program.executor->finish(result).ok());
    ++program.numFinished;
    ASSERT_NO_FATAL_FAILURE(program.expectStep());
  }
}

/// A step that the device has done is whole, whatever happens in the next one.
TEST(CudaQueue, FaultOfTheNextStep) {
  auto failAtSecond = [](veeline_rank *rank, char *arena,
                         const void *const *batch) {
    produce(rank, arena, batch);
    if (stepsIssued == 2)
      rank->fail("something happened");
  };
  Program program({failAtSecond, consume});
  ASSERT_NO_FATAL_FAILURE(program.create());
  ASSERT_TRUE(program.begin().ok());
  ASSERT_TRUE(program.begin().ok());
  ASSERT_NO_FATAL_FAILURE(program.expectStep());
  StepResult result;
  EXPECT_EQ(program.executor->finish(result).message(),
            "rank 0: something happened");
  EXPECT_EQ(program.executor->currentStep(), 2);
  EXPECT_FALSE(program.begin().ok());
  EXPECT_FALSE(program.executor->finish(result).ok());
  program.executor.reset();
  EXPECT_EQ(standin::countLive(), 0);
}

/// So it is where the driver refuses a call, of any step, at any time; what the
/// device has is not freed under it.
TEST(CudaQueue, CallsThatFail) {
  for (auto [isEager, isLate] :
       {std::pair(true, false), {false, false}, {true, true}, {false, true}})
    for (const char *call :
         {"cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent",
          "cuEventQuery", "cuMemsetD32Async", "cuMemcpyHtoDAsync_v2",
          "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2",
          "cuStreamBeginCapture_v2", "cuStreamEndCapture",
          "cuGraphInstantiateWithFlags", "cuGraphLaunch"})
      for (int64_t nth = 1; nth <= 40; ++nth) {
        Program program;
        if (isLate)
          program.makeLate();
        program.options.isEager = isEager;
        ASSERT_NO_FATAL_FAILURE(program.create());
        standin::failCall(call, nth, 700);
        Status status = program.begin();
        StepResult result;
        for (int i = 0; i < 6 && status.ok(); ++i) {
          status = program.begin();
          if (status.ok())
            status = program.executor->finish(result);
          if (status.ok())
            Program::expectResult(result, ++program.numFinished);
        }
        bool hasFailed = !status.ok();
        int64_t failed = program.executor->currentStep();
        // A remainder would fail the next program.
        standin::failCall("", 0, 0);
        if (hasFailed)
          EXPECT_NE(status.message().find(call), std::string::npos)
              << call << " " << nth << ": " << status.message();
        // A fault of the next step may stop ranks that are still in this one.
        if (hasFailed && failed != program.numFinished + 2)
          EXPECT_EQ(failed, program.numFinished + 1)
              << call << " " << nth << ": " << status.message();
        program.executor.reset();
        EXPECT_EQ(standin::countLive(), 0) << call << " " << nth;
      }
}

/// An executor that is destroyed ends the steps that are under way, also where
/// they could not end by themselves.
TEST(CudaQueue, DestroyedInTheMiddle) {
  auto sendOnce = [](veeline_rank *rank, char *arena,
                     const void *const *batch) {
    if (stepsIssued == 1) {
      ++stepsIssued;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return;
    }
    produce(rank, arena, batch);
  };
  for (int numSteps : {1, 2}) {
    Program program({sendOnce, consume});
    program.options.isEager = true;
    ASSERT_NO_FATAL_FAILURE(program.create());
    for (int i = 0; i < numSteps; ++i)
      ASSERT_TRUE(program.begin().ok());
    program.executor.reset();
    EXPECT_EQ(standin::countLive(), 0);
  }
  for (int numSteps : {2, 3, 4, 5, 6}) {
    Program program;
    if (numSteps > 4)
      program.makeLate();
    ASSERT_NO_FATAL_FAILURE(program.create());
    ASSERT_TRUE(program.begin().ok());
    for (int i = 1; i < numSteps; ++i) {
      ASSERT_TRUE(program.begin().ok());
      if (i + 1 < numSteps)
        ASSERT_NO_FATAL_FAILURE(program.expectStep());
    }
    program.executor.reset();
    EXPECT_EQ(standin::countLive(), 0);
  }
}
