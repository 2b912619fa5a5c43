//===- CudaLoadingTest.cpp - kernels are loaded when they are launched ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesInThreads.h"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace veeline;
using artifact::DataType;
using test::toArgument;

namespace {
/// Counts the calls that load code since it was made.
struct Loads {
  int64_t modules = standin::countCalls("cuModuleLoadDataEx");
  int64_t functions = standin::countCalls("cuModuleGetFunction");
  int64_t attributes = standin::countCalls("cuFuncSetAttribute");
  int64_t codes = standin::countCalls("cuFuncLoad");

  void expect(int64_t newModules, int64_t newFunctions, int64_t newAttributes,
              const std::string &where) const {
    Loads now;
    EXPECT_EQ(now.modules - modules, newModules) << where;
    EXPECT_EQ(now.functions - functions, newFunctions) << where;
    EXPECT_EQ(now.codes - codes, newFunctions) << where;
    EXPECT_EQ(now.attributes - attributes, newAttributes) << where;
  }
};
} // namespace

/// Adds one to what a kernel finds.
static void increase(const void *const *params, const uint32_t *,
                     const uint32_t *) {
  ++*test::argument<int32_t *>(params, 0);
}

static constexpr int32_t numKernels = 5;

/// Adds kernels "loading-0" and so on. The third one has so much shared memory
/// that it needs an attribute.
static void addKernels(cts::Fixture &fixture) {
  for (int32_t i = 0; i < numKernels; ++i)
    test::addKernel(fixture, "loading-" + std::to_string(i), increase, 1);
  fixture.metadata().device->kernels[2].sharedBytes = 64 * 1024;
}

static void launch(veeline_rank *rank, int32_t kernel, char *place) {
  const uint64_t arguments[] = {toArgument(place)};
  veeline_launch(rank, kernel, arguments);
}

static void launchTwo(veeline_rank *rank, char *arena, const void *const *) {
  for (int i = 0; i < 10; ++i) {
    launch(rank, 0, arena);
    launch(rank, 2, arena);
  }
}

static void launchOne(veeline_rank *rank, char *arena, const void *const *) {
  launch(rank, 0, arena);
}

static void launchNone(veeline_rank *, char *, const void *const *) {}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static cuda::CudaOptions optionsOf(std::vector<veeline_step_fn> steps) {
  cuda::CudaOptions options = test::standIns();
  options.steps = std::move(steps);
  return options;
}

/// Kernels that no rank launches are never loaded, the others once for all
/// ranks.
TEST(CudaLoading, WhatIsLaunched) {
  std::vector<veeline_step_fn> steps = {launchTwo, launchOne, launchNone};
  cts::Fixture fixture(steps);
  addKernels(fixture);
  Loads before;
  auto created = cuda::CudaExecutor::create(fixture.whole(), fixture.program(),
                                            optionsOf(steps));
  ASSERT_TRUE(created.ok()) << created.message();
  before.expect(0, 0, 0, "loaded");
  const void *inputs[] = {nullptr};
  for (int32_t step = 0; step < 4; ++step) {
    StepResult result;
    ASSERT_TRUE((*created)->begin(inputs, {}).ok());
    Status status = (*created)->finish(result);
    ASSERT_TRUE(status.ok()) << status.message();
    before.expect(1, 2, 1, "after step " + std::to_string(step));
  }
  created->reset();
  EXPECT_EQ(standin::countLive(), 0);
}

/// Ranks that launch nothing load nothing, even if the image is broken.
TEST(CudaLoading, NoKernels) {
  cts::Fixture fixture({launchNone, launchNone});
  addKernels(fixture);
  fixture.whole().image = "broken";
  Loads before;
  std::string remark;
  EXPECT_EQ(test::runThreeSteps(fixture.whole(),
                                optionsOf({launchNone, launchNone}), remark),
            "");
  before.expect(0, 0, 0, "at the end");
}

/// Two GPUs, each with what its own ranks launch.
TEST(CudaLoading, OfEachGpu) {
  test::Environment two("VEELINE_STANDIN_DEVICES", "2");
  std::vector<veeline_step_fn> steps = {launchTwo, launchOne, launchOne};
  cts::Fixture fixture(steps);
  addKernels(fixture);
  cuda::CudaOptions options = optionsOf(steps);
  options.devices = {0, 1, 1};
  Loads before;
  std::string remark;
  EXPECT_EQ(test::runThreeSteps(fixture.whole(), options, remark), "");
  before.expect(2, 3, 1, "at the end");
  options.devices = {0, 1, 0};
  options.steps = {launchTwo, launchNone, launchOne};
  EXPECT_EQ(test::runThreeSteps(fixture.whole(), options, remark), "");
  before.expect(3, 5, 2, "where one has nothing to launch");
}

static std::atomic<int32_t> numArrived;

/// All ranks launch all kernels at the same time, each beginning with another
/// one.
static void launchAtOnce(veeline_rank *rank, char *arena, const void *const *) {
  numArrived.fetch_add(1);
  while (numArrived.load() < 8)
    std::this_thread::yield();
  for (int32_t i = 0; i < numKernels; ++i)
    launch(rank, (rank->index + i) % numKernels, arena);
}

TEST(CudaLoading, RanksThatRace) {
  std::vector<veeline_step_fn> steps(8, launchAtOnce);
  for (int round = 0; round < 20; ++round) {
    cts::Fixture fixture(steps);
    addKernels(fixture);
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    const int32_t zero = 0;
    for (int32_t rank = 0; rank < 8; ++rank)
      ASSERT_TRUE(fixture.executor().write(rank, 0, &zero, 4).ok());
    numArrived = 0;
    Loads before;
    Status status = fixture.step();
    ASSERT_TRUE(status.ok()) << status.message();
    before.expect(1, numKernels, 1, "round " + std::to_string(round));
    for (int32_t rank = 0; rank < 8; ++rank) {
      int32_t count = 0;
      ASSERT_TRUE(fixture.executor().read(rank, 0, &count, 4).ok());
      EXPECT_EQ(count, numKernels);
    }
  }
}

/// The step before a graph loads what the graph has.
TEST(CudaLoading, StepsThatDiffer) {
  static std::atomic<int32_t> numRuns;
  auto launchAnother = [](veeline_rank *rank, char *arena,
                          const void *const *) {
    launch(rank, numRuns++ == 0 ? 0 : 1, arena);
  };
  for (bool isEager : {false, true}) {
    numRuns = 0;
    cts::Fixture fixture({launchAnother});
    addKernels(fixture);
    cuda::CudaOptions options = optionsOf({launchAnother});
    options.isEager = isEager;
    std::string remark;
    EXPECT_EQ(test::runThreeSteps(fixture.whole(), options, remark),
              isEager
                  ? ""
                  : "step: rank 0: kernel 'loading-1' is launched in a step "
                    "that is captured and was not in those before: steps "
                    "that differ are issued one by one, with --eager");
    EXPECT_EQ(standin::countLive(), 0);
  }
}

/// What cannot be loaded ends the step in which it is needed, once.
TEST(CudaLoading, Errors) {
  cts::Fixture fixture({launchOne, launchTwo});
  addKernels(fixture);
  std::string remark;
  auto run = [&] {
    return test::runThreeSteps(fixture.whole(),
                               optionsOf({launchOne, launchTwo}), remark);
  };
  for (const char *call : {"cuModuleLoadDataEx", "cuModuleGetFunction",
                           "cuFuncSetAttribute", "cuFuncLoad"}) {
    standin::failCall(call, 1, 2);
    std::string message = run();
    EXPECT_EQ(message.find("step: rank "), 0u) << message;
    EXPECT_NE(message.find(std::string(call) + ": CUDA_ERROR_OUT_OF_MEMORY"),
              std::string::npos)
        << message;
    EXPECT_EQ(standin::countLive(), 0) << call;
  }
  fixture.metadata().device->kernels[2].name = "missing";
  EXPECT_EQ(run(), "step: rank 1: GPU 0 (stand-in), kernel 'missing': "
                   "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500): the "
                   "stand-in was told to say so");
  fixture.whole().image = "broken";
  std::string message = run();
  EXPECT_NE(message.find("GPU 0 (stand-in) cannot load the artifact's code: "
                         "cuModuleLoadDataEx: CUDA_ERROR_INVALID_IMAGE (200)"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(": line 1: no PTX"), std::string::npos) << message;
  EXPECT_EQ(standin::countLive(), 0);
}

/// Drivers before CUDA 12.2 are asked to load what is needed, and no more.
TEST(CudaLoading, ModeOfTheDriver) {
  auto modeOf = [](const char *version, const char *users) {
    if (users)
      ::setenv("CUDA_MODULE_LOADING", users, 1);
    test::Environment driver("VEELINE_STANDIN_DRIVER", version);
    Expected<cuda::Driver> loaded = cuda::Driver::load(VEELINE_STANDIN_CUDA);
    EXPECT_TRUE(loaded.ok()) << loaded.message();
    ::unsetenv("CUDA_MODULE_LOADING");
    return standin::loadingMode();
  };
  ::unsetenv("CUDA_MODULE_LOADING");
  EXPECT_EQ(modeOf("12000", nullptr), "LAZY");
  EXPECT_EQ(modeOf("12010", nullptr), "LAZY");
  EXPECT_EQ(modeOf("12010", "EAGER"), "EAGER");
  EXPECT_EQ(modeOf("12020", nullptr), "");
  EXPECT_EQ(modeOf("13000", "EAGER"), "EAGER");
}

/// Drivers before CUDA 12.4 load the code of a kernel when it is launched.
TEST(CudaLoading, WithoutFuncLoad) {
  cts::Fixture fixture({launchOne});
  addKernels(fixture);
  Expected<cuda::Driver> driver = cuda::Driver::load(VEELINE_STANDIN_CUDA);
  ASSERT_TRUE(driver.ok()) << driver.message();
  driver->cuFuncLoad = nullptr;
  auto device = cuda::Device::open(*driver, 0);
  ASSERT_TRUE(device.ok()) << device.message();
  int64_t codes = standin::countCalls("cuFuncLoad");
  Status status = (*device)->loadKernels(fixture.whole());
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(standin::countCalls("cuFuncLoad"), codes);
}

/// A kernel may have static and dynamic shared memory, and more than 48 KiB
/// only of both.
TEST(CudaLoading, SharedMemoryOfBothKinds) {
  cts::Fixture fixture({launchOne});
  test::makeForGpu(fixture.whole());
  fixture.metadata().device->kernels = {
      {"k", {1, 1, 1}, {32, 1, 1}, 20 << 10, 1}};
  fixture.whole().image = "//\n.version 8.6\n.target sm_90\n.address_size 64\n"
                          "\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n"
                          ".maxntid 32, 1, 1\n{\n"
                          "\t.shared .align 16 .b8 buffer[40960];\n\tret;\n}\n";
  std::string remark;
  EXPECT_EQ(
      test::runThreeSteps(fixture.whole(), optionsOf({launchOne}), remark), "");
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

namespace {
class CudaLoadingOfProcesses : public testing::Test {
protected:
  void TearDown() override {
    standin::failCall("", 0, 0);
    EXPECT_EQ(standin::countLive(), 0);
  }

  test::Environment devices{"VEELINE_STANDIN_DEVICES", "2"};
};
} // namespace

static void multiply(veeline_rank *rank, char *arena) {
  veeline_gemm(rank, 0, arena + 1024, arena + 1280, arena + 1536, nullptr);
}

/// Launches and multiplies while a message is under way.
static void talkFirst(veeline_rank *rank, char *arena, const void *const *) {
  veeline_send(rank, 0, 0, arena);
  launch(rank, 0, arena + 512);
  launch(rank, 2, arena + 512);
  multiply(rank, arena);
  veeline_recv_post(rank, 1, arena + 256);
  veeline_recv_wait(rank, 1);
}

static void answer(veeline_rank *rank, char *arena, const void *const *) {
  veeline_recv_post(rank, 0, arena + 256);
  veeline_recv_wait(rank, 0);
  launch(rank, 1, arena);
  veeline_send(rank, 1, 0, arena);
}

static void makeTalk(cts::Fixture &fixture) {
  addKernels(fixture);
  fixture.addChannel(0, 1, 64, 1);
  fixture.addChannel(1, 0, 64, 1);
  for (artifact::Channel &channel : fixture.program().channels)
    channel.stream = 1;
  artifact::Rank &rank = fixture.rank(0);
  rank.gemms = {{DataType::f32, {2}, 2, 2, 2, {4, 2, 1}, {4, 2, 1}, {4, 2, 1}}};
  rank.libraryOffset = 2048;
  rank.libraryBytes = 256;
}

/// Ranks have all that they launch before they meet: the stand-in would not
/// load it later.
TEST_F(CudaLoadingOfProcesses, BeforeMessages) {
  std::vector<veeline_step_fn> steps = {talkFirst, answer};
  cts::Fixture fixture(steps);
  makeTalk(fixture);
  test::Processes processes(fixture);
  processes.options.steps = steps;
  Loads before;
  processes.before = [&](cuda::CudaExecutor &, int32_t rank) {
    // Both have met by then.
    if (rank == 0)
      before.expect(2, 3, 1, "before the first step");
  };
  int64_t products = standin::countCalls("cublasLtMatmul");
  EXPECT_EQ(processes.run(fixture.program(), 4), std::vector<std::string>(2));
  before.expect(2, 3, 1, "at the end");
  // Once ahead of all steps, once issued and once captured.
  EXPECT_EQ(standin::countCalls("cublasLtMatmul") - products, 3);
}

/// A rank that reads back loads all kernels: what it launches may depend on
/// what it computes.
TEST_F(CudaLoadingOfProcesses, WhoReadsBackHasAll) {
  std::vector<veeline_step_fn> steps = {talkFirst, answer};
  cts::Fixture fixture(steps);
  makeTalk(fixture);
  fixture.rank(1).readsBack = true;
  test::Processes processes(fixture);
  processes.options.steps = steps;
  Loads before;
  EXPECT_EQ(processes.run(fixture.program(), 3), std::vector<std::string>(2));
  before.expect(2, 2 + numKernels, 2, "at the end");
}

TEST_F(CudaLoadingOfProcesses, Errors) {
  std::vector<veeline_step_fn> steps = {talkFirst, answer};
  cts::Fixture fixture(steps);
  makeTalk(fixture);
  test::Processes processes(fixture);
  processes.options.steps = steps;
  auto expect = [&](const std::string &text) {
    for (const std::string &message : processes.run(fixture.program(), 1))
      EXPECT_NE(message.find(text), std::string::npos) << message;
    EXPECT_EQ(standin::countLive(), 0) << text;
  };
  fixture.metadata().device->kernels[1].name = "missing";
  expect("rank 1: GPU 1 (stand-in), kernel 'missing': "
         "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500)");
  standin::failCall("cublasLtMatmul", 1, 13);
  fixture.metadata().device->kernels[1].name = "loading-1";
  expect("rank 0: matrix product 0: cublasLtMatmul: "
         "CUBLAS_STATUS_EXECUTION_FAILED (13)");
}
