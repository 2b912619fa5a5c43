//===- CudaErrorsTest.cpp - what CUDA refuses is one message --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <cstdlib>

using namespace veeline;
using artifact::DataType;
using test::expectMessage;

static void touch(const void *const *, const uint32_t *, const uint32_t *) {}

/// Whether steps read back what they compute, so that none is captured.
static bool readsBack;

/// Calls everything that a step of one rank can.
static void useAll(veeline_rank *rank, char *arena, const void *const *) {
  const uint64_t arguments[] = {test::toArgument(arena)};
  veeline_launch(rank, 0, arguments);
  veeline_gemm(rank, 0, arena, arena + 256, arena + 512, nullptr);
  veeline_copy(rank, arena + 512, arena, 64);
  veeline_zero(rank, arena, 64);
  if (readsBack)
    veeline_load(rank, arena, 4);
  veeline_report(rank, 0, 0, arena);
}

/// Runs an op without work, so that messages of errors do not name it.
static void runOp(veeline_rank *rank) {
  veeline_op_begin(rank, 0);
  veeline_op_end(rank, 0);
}

static void sendOne(veeline_rank *rank, char *arena, const void *const *batch) {
  runOp(rank);
  useAll(rank, arena, batch);
  veeline_send(rank, 0, 0, arena);
}

static void receiveOne(veeline_rank *rank, char *arena, const void *const *) {
  runOp(rank);
  veeline_recv_post(rank, 0, arena);
  veeline_recv_wait(rank, 0);
}

/// Two ranks that use all of the driver and of cuBLASLt.
class Program {
public:
  explicit Program(bool loads = false) : fixture({sendOne, receiveOne}) {
    readsBack = loads;
    fixture.addChannel(0, 1, 64, 1);
    fixture.rank(1).ops.resize(1);
    artifact::Rank &rank = fixture.rank(0);
    rank.ops.resize(1);
    rank.gemms = {
        {DataType::f32, {2}, 2, 2, 2, {4, 2, 1}, {4, 2, 1}, {4, 2, 1}}};
    rank.readsBack = loads;
    rank.inputs = {{0, 1024, 1}};
    rank.libraryOffset = 2048;
    rank.libraryBytes = 256;
    rank.settingsOffset = 1280;
    rank.resultsOffset = 1536;
    test::addKernel(fixture, "touch", touch, 1);
    fixture.metadata().device->kernels[0].sharedBytes = 64 * 1024;
    options = test::standIns();
    options.steps = {sendOne, receiveOne};
  }

  artifact::Artifact &artifact() { return fixture.whole(); }
  cuda::CudaOptions options;

  /// The error of loading and three steps, or nothing.
  std::string run() {
    Status valid = artifact::validate(artifact());
    if (!valid.ok())
      return "not valid: " + valid.message();
    auto created = cuda::CudaExecutor::create(
        artifact(), artifact().metadata.programs[0], options);
    if (!created.ok())
      return created.message();
    for (int step = 0; step < 3; ++step)
      if (Status status = test::runStep(**created); !status.ok())
        return "step: " + status.message();
    float value = 1;
    if (Status status = (*created)->write(0, 0, &value, 4); !status.ok())
      return "write: " + status.message();
    if (Status status = (*created)->read(0, 0, &value, 4); !status.ok())
      return "read: " + status.message();
    return "";
  }

private:
  cts::Fixture fixture;
};

TEST(CudaErrors, NothingIsLeft) {
  Program program;
  EXPECT_EQ(program.run(), "");
  EXPECT_EQ(standin::countLive(), 0);
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

TEST(CudaErrors, LibrariesThatAreNotThere) {
  Program program;
  program.options.driver = "/nowhere/libcuda.so.1";
  expectMessage(program,
                "program 'suite': cannot load the CUDA driver: tried "
                "'/nowhere/libcuda.so.1': /nowhere/libcuda.so.1: cannot open "
                "shared object file: No such file or directory; install "
                "NVIDIA's driver, or name its file with --cuda-driver");
  program.options.driver = "libm.so.6";
  expectMessage(program,
                "'libm.so.6' has no function cuInit: it is not a CUDA driver");
  program.options = test::standIns();
  program.options.blasLt = "/nowhere/libcublasLt.so.13";
  expectMessage(program, "cannot load cuBLASLt, which computes matrix "
                         "products: tried '/nowhere/libcublasLt.so.13'");
  program.options.blasLt = VEELINE_STANDIN_CUDA;
  expectMessage(program,
                "has no function cublasLtGetVersion: it is not cuBLASLt");
}

TEST(CudaErrors, OldLibraries) {
  Program program;
  {
    test::Environment old("VEELINE_STANDIN_DRIVER", "11080");
    expectMessage(program, "supports CUDA 11.8, and 12.0 or later is needed; "
                           "install a newer one");
  }
  test::Environment old("VEELINE_STANDIN_CUBLASLT", "111103");
  expectMessage(program, "has version 11.11, and 12.0 or later is needed");
}

TEST(CudaErrors, StubOfTheToolkit) {
  Program program;
  standin::failCall("cuInit", 1, 34);
  expectMessage(program, "is the stub of the CUDA toolkit");
}

//===----------------------------------------------------------------------===//
// Devices and code
//===----------------------------------------------------------------------===//

TEST(CudaErrors, Devices) {
  Program program;
  {
    test::Environment none("VEELINE_STANDIN_DEVICES", "0");
    expectMessage(program, "finds no GPU; nvidia-smi lists those");
  }
  program.options.devices = {0};
  expectMessage(program, "there are 2 ranks, and --device names GPUs for 1");
  program.options.devices = {0, 1};
  expectMessage(program, "there is no GPU 1: the CUDA driver finds 1 of them");
  test::Environment two("VEELINE_STANDIN_DEVICES", "2");
  expectMessage(program, "ranks 0 and 1 exchange messages, and are threads on "
                         "two GPUs");
}

TEST(CudaErrors, CodeForOtherChips) {
  Program program;
  artifact::DeviceCode &code = *program.artifact().metadata.device;
  auto use = [&](std::vector<std::string> chips, const char *ptx) {
    code.chips = std::move(chips);
    code.ptx = ptx;
    code.toolkit = code.chips.empty() ? "" : "13.0";
  };
  use({"sm_80", "sm_100"}, "sm_100");
  expectMessage(program,
                "GPU 0 (stand-in) is of sm_90, and the artifact has code for "
                "sm_80, sm_100, PTX for sm_100 and later; compile the model "
                "again, for this chip");
  use({"sm_90"}, "");
  EXPECT_EQ(program.run(), "");
  use({"sm_90a"}, "");
  EXPECT_EQ(program.run(), "");
  use({}, "sm_80");
  EXPECT_EQ(program.run(), "");
  {
    test::Environment chip("VEELINE_STANDIN_CHIP", "sm_89");
    use({"sm_80"}, "");
    EXPECT_EQ(program.run(), "");
    use({"sm_90"}, "");
    expectMessage(program, "is of sm_89");
  }
  test::Environment old("VEELINE_STANDIN_DRIVER", "12040");
  use({"sm_90"}, "");
  expectMessage(program, "the CUDA driver supports CUDA 12.4, and the "
                         "artifact's code was made by toolkit 13.0");
  use({"sm_90"}, "sm_90");
  EXPECT_EQ(program.run(), "");
}

TEST(CudaErrors, ImagesAndKernels) {
  Program program;
  program.artifact().image = "broken";
  expectMessage(program, "GPU 0 (stand-in) cannot load the artifact's code: "
                         "cuModuleLoadDataEx: CUDA_ERROR_INVALID_IMAGE (200)");
  expectMessage(program, ": line 1: no PTX");
  program.artifact().image = "image";
  program.artifact().metadata.device->kernels[0].name = "missing";
  expectMessage(program, "kernel 'missing': cuModuleGetFunction: "
                         "CUDA_ERROR_NOT_FOUND (500)");
}

TEST(CudaErrors, OutOfMemory) {
  Program program;
  {
    test::Environment small("VEELINE_STANDIN_MEMORY", "6000");
    expectMessage(program,
                  "program 'suite': it needs 8192 bytes of GPU 0 (stand-in) "
                  "for ranks 0, 1 (4096 + 4096), where 6000 of 6000 are free");
  }
  // Here not even the first rank has room.
  test::Environment smaller("VEELINE_STANDIN_MEMORY", "4095");
  expectMessage(program,
                "program 'suite': it needs 8192 bytes of GPU 0 (stand-in) for "
                "ranks 0, 1 (4096 + 4096), where 4095 of 4095 are free");
}

/// Ranks on other GPUs have no part in it.
TEST(CudaErrors, OutOfMemoryOfOneGpu) {
  test::Environment two("VEELINE_STANDIN_DEVICES", "2");
  test::Environment small("VEELINE_STANDIN_MEMORY", "8000");
  auto nothing = [](veeline_rank *, char *, const void *const *) {};
  cts::Fixture fixture({nothing, nothing, nothing});
  test::makeForGpu(fixture.whole());
  cuda::CudaOptions options = test::standIns();
  options.steps = {nothing, nothing, nothing};
  std::string remark;
  for (const std::vector<int32_t> &devices :
       {std::vector<int32_t>{0, 1, 0}, {0, 1, 1}}) {
    options.devices = devices;
    std::string name = devices[2] == 0 ? "GPU 0" : "GPU 1";
    EXPECT_EQ(test::runThreeSteps(fixture.whole(), options, remark),
              "program 'suite': it needs 8192 bytes of " + name +
                  " (stand-in) for ranks " + (devices[2] == 0 ? "0" : "1") +
                  ", 2 (4096 + 4096), where 8000 of 8000 are free");
    EXPECT_EQ(standin::countLive(), 0);
  }
  fixture.rank(1).arenaBytes = 8192;
  options.devices = {0, 1, 0};
  fixture.rank(2).arenaBytes = 0;
  EXPECT_EQ(test::runThreeSteps(fixture.whole(), options, remark),
            "program 'suite': it needs 8192 bytes of GPU 1 (stand-in) for rank "
            "1, where 8000 of 8000 are free");
}

TEST(CudaErrors, OfTheHost) {
  Program program;
  program.artifact().metadata.target = "host";
  auto created = cuda::CudaExecutor::create(
      program.artifact(), program.artifact().metadata.programs[0],
      program.options);
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(
      created.message(),
      "its target is host, and this is for cuda; compile the model again");
}

//===----------------------------------------------------------------------===//
// Every code, and every call
//===----------------------------------------------------------------------===//

#define ERROR(name, code) {#name, code},
static const test::ErrorCode cudaErrors[] = {
#include "CudaErrors.inc"
};
static const test::ErrorCode blasErrors[] = {
#include "BlasErrors.inc"
};
#undef ERROR

/// Codes are returned at loading and in a step by turns.
TEST(CudaErrors, EveryCodeOfTheDriver) {
  Program program;
  bool isInStep = false;
  for (const test::ErrorCode &error : cudaErrors) {
    const char *call = isInStep ? "cuLaunchKernel" : "cuStreamCreate";
    // The first stream is no rank's.
    standin::failCall(call, isInStep ? 1 : 2, error.code);
    std::string text = ": " + std::string(error.name) + " (" +
                       std::to_string(error.code) + "): the stand-in";
    expectMessage(program, isInStep
                               ? "step: rank 0: cuLaunchKernel (touch)" + text
                               : "rank 0: cuStreamCreate" + text);
    isInStep = !isInStep;
  }
}

TEST(CudaErrors, EveryCodeOfCublasLt) {
  Program program;
  for (const test::ErrorCode &error : blasErrors)
    for (const char *call : {"cublasLtCreate", "cublasLtMatmul"}) {
      standin::failCall(call, 1, error.code);
      expectMessage(program, std::string(call) + ": " + error.name + " (" +
                                 std::to_string(error.code) + ")");
    }
}

/// Without an epilogue there is no other way.
TEST(CudaErrors, ProductsWithoutAnAlgorithm) {
  constexpr int notSupported = 15;
  for (bool accumulates : {false, true}) {
    Program program;
    program.artifact().metadata.programs[0].ranks[0].gemms[0].accumulate =
        accumulates;
    standin::failCall("cublasLtMatmulAlgoGetHeuristic", 1, notSupported);
    expectMessage(program,
                  "rank 0: matrix product 0: cuBLASLt has no algorithm for it");
  }
}

/// A step that reads back must not be captured, so that artifacts have to say
/// so.
TEST(CudaErrors, ReadingBackUnsaid) {
  Program program(true);
  program.artifact().metadata.programs[0].ranks[0].readsBack = false;
  expectMessage(program, "step: rank 0: it reads back what it has computed, "
                         "and the artifact does not say so (reads_back)");
}

TEST(CudaErrors, NoPlaceForResults) {
  Program program;
  program.artifact().metadata.programs[0].ranks[0].resultsOffset = -1;
  expectMessage(program, "step: rank 0: it reports a result, and the artifact "
                         "has no place for that (results_offset)");
}

/// Makes each call of either library fail, at its first and at its last time.
static void failEveryCall(bool loads, size_t timelineEvents) {
#define NAME(name, parameters) #name,
  const std::string driver[] = {VEELINE_CUDA_FUNCTIONS(NAME)
                                    VEELINE_CUDA_LATER_FUNCTIONS(NAME)};
#undef NAME
#define NAME(type, name, parameters) #name,
  const std::string blas[] = {VEELINE_BLASLT_FUNCTIONS(NAME)};
#undef NAME
  std::vector<std::string> calls(std::begin(driver), std::end(driver));
  calls.insert(calls.end(), std::begin(blas), std::end(blas));
  Program program(loads);
  program.options.timelineEvents = timelineEvents;
  for (const std::string &call : calls) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(program.run(), "") << call;
    int64_t count = standin::countCalls(call) - before;
    // Calls that cannot fail, that only describe failures, or that clean up.
    bool isQuiet = call.find("Destroy") != std::string::npos ||
                   call.find("Free") != std::string::npos ||
                   call.find("Release") != std::string::npos ||
                   call == "cuModuleUnload" || call == "cuEventElapsedTime";
    // Only processes need this: see CudaProcessesTest.
    if (call == "cuDeviceGetUuid_v2")
      continue;
    // The number of polls differs between runs.
    bool isPolled = call == "cuEventQuery";
    // Only after a fault.
    if (call == "cuStreamQuery")
      continue;
    // Only where memsets of the host's memory are refused.
    if (call == "cuStreamWriteValue32_v2")
      continue;
    if (count == 0) {
      EXPECT_TRUE(loads || call.find("Get") != std::string::npos ||
                  call == "cuEventElapsedTime" || timelineEvents > 0)
          << call;
      EXPECT_FALSE(call == "cuEventElapsedTime" && timelineEvents > 0);
      continue;
    }
    for (int64_t nth : {int64_t(1), isPolled ? int64_t(1) : count}) {
      if (isQuiet)
        continue;
      standin::failCall(call, nth, 700);
      std::string message = program.run();
      // The last time of some is when everything is freed.
      bool isAtEnd = call == "cuCtxSetCurrent" && nth == count;
      EXPECT_TRUE(isAtEnd || !message.empty()) << call << ", call " << nth;
      EXPECT_EQ(standin::countLive(), 0) << call << ", call " << nth;
      standin::failCall("", 0, 0);
    }
  }
}

TEST(CudaErrors, EveryCall) { failEveryCall(false, 0); }
TEST(CudaErrors, EveryCallWithoutGraphs) { failEveryCall(true, 0); }
TEST(CudaErrors, EveryCallOfATimeline) { failEveryCall(false, 8); }
