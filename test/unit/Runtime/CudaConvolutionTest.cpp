//===- CudaConvolutionTest.cpp - convolutions by cuDNN, and without -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether cuDNN is there for convolutions, what it has nothing for, and what it
// refuses. The conformance suite tests what it computes.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionPlan.h"
#include "CudaBackend.h"

#include "veeline/convolution.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace veeline;
using artifact::Convolution;
using artifact::ConvolutionKind;
using test::expectMessage;

static constexpr int64_t operandBytes = 4096, scratchBytes = 16384;
static constexpr int numKinds = 3;

/// Whether the step finds each convolution.
static int32_t isThere[numKinds];
/// Whether it calls those that are not there, too.
static bool callsAll;

/// Operands lie one after the other, then the scratch.
static void convolveAll(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numKinds; ++i) {
    isThere[i] = veeline_has_convolution(rank, i);
    if (isThere[i] || callsAll)
      veeline_convolution(rank, i, arena, arena + operandBytes,
                          arena + 2 * operandBytes, arena + 3 * operandBytes);
  }
}

/// A convolution of one sample of 6 by 6 with 2 channels, channels last. Both x
/// and w are copied: x has one more row of zeros behind it than before it, and
/// w is in the order of a matrix product.
static Convolution makeConvolution(ConvolutionKind kind) {
  Convolution c;
  c.kind = kind;
  c.batch = 1;
  c.groups = 1;
  c.inputs = 2;
  c.outputs = 4;
  c.xSizes = {6, 6};
  c.wSizes = {3, 3};
  c.ySizes = {3, 3};
  c.strides = {2, 2};
  c.dilations = {1, 1};
  c.padding = {0, 0};
  c.xStrides = {72, 2, 1, 12, 2};
  c.yStrides = {36, 4, 1, 12, 4};
  c.wStrides = {72, 1, 4, 24, 8};
  c.scratchBytes = scratchBytes;
  return c;
}

namespace {
/// One rank with a convolution of each kind.
class Program {
public:
  Program() : fixture({convolveAll}, 3 * operandBytes + scratchBytes) {
    artifact::Rank &rank = fixture.rank(0);
    for (ConvolutionKind kind :
         {ConvolutionKind::forward, ConvolutionKind::backwardData,
          ConvolutionKind::backwardWeights})
      rank.convolutions.push_back(makeConvolution(kind));
    test::makeForGpu(fixture.whole());
    test::addLibrary(rank);
    options = test::standIns();
    options.steps = {convolveAll};
    callsAll = false;
  }

  artifact::Rank &rank() { return fixture.rank(0); }
  cuda::CudaOptions options;
  std::string remark;

  /// The error of loading and three steps, or nothing.
  std::string run() {
    return test::runThreeSteps(fixture.whole(), options, remark);
  }

private:
  cts::Fixture fixture;
};
} // namespace

static int64_t countThere(Program &program) {
  EXPECT_EQ(program.run(), "");
  return isThere[0] + isThere[1] + isThere[2];
}

//===----------------------------------------------------------------------===//
// Whether it is there
//===----------------------------------------------------------------------===//

TEST(CudaConvolution, IsThere) {
  Program program;
  int64_t before = standin::countCalls("cudnnConvolutionForward");
  EXPECT_EQ(countThere(program), numKinds);
  EXPECT_EQ(program.remark, "");
  // Once as issued and once captured.
  EXPECT_EQ(standin::countCalls("cudnnConvolutionForward") - before, 2);
  EXPECT_EQ(standin::countLive(), 0);
}

TEST(CudaConvolution, ByChoiceWithout) {
  Program program;
  program.options.cudnn = "none";
  EXPECT_EQ(countThere(program), 0);
  EXPECT_EQ(program.remark, "");
  callsAll = true;
  expectMessage(program, "step: rank 0: convolution 0 is called, and no "
                         "library computes it");
}

/// If nobody names a file, convolutions are matrix products, and a remark says
/// so.
TEST(CudaConvolution, NotInstalled) {
  if (void *installed = ::dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL)) {
    ::dlclose(installed);
    GTEST_SKIP() << "cuDNN is installed";
  }
  Program program;
  program.options.cudnn.clear();
  EXPECT_EQ(countThere(program), 0);
  EXPECT_EQ(program.remark.find(
                "convolutions are matrix products: cannot load cuDNN, which "
                "computes convolutions and attention: tried 'libcudnn.so.9': "),
            0u)
      << program.remark;
  program.rank().convolutions.clear();
}

TEST(CudaConvolution, LibrariesThatAreNotIt) {
  Program program;
  program.options.cudnn = "/nowhere/libcudnn.so.9";
  expectMessage(program, "program 'suite': cannot load cuDNN, which computes "
                         "convolutions and attention: tried "
                         "'/nowhere/libcudnn.so.9'");
  program.options.cudnn = VEELINE_STANDIN_CUDA;
  expectMessage(program, "has no function cudnnGetVersion: it is not cuDNN of "
                         "version 9");
  program.options.cudnn = VEELINE_STANDIN_CUDNN;
  for (const char *version : {"8907", "100000"}) {
    test::Environment other("VEELINE_STANDIN_CUDNN", version);
    expectMessage(program, ", and 9 is needed; install that, or do without it "
                           "(--cudnn none)");
  }
}

/// A program without convolutions needs no cuDNN.
TEST(CudaConvolution, NotNeeded) {
  Program program;
  program.rank().convolutions.clear();
  program.options.cudnn = "/nowhere/libcudnn.so.9";
  program.options.steps = {[](veeline_rank *, char *, const void *const *) {}};
  EXPECT_EQ(program.run(), "");
}

//===----------------------------------------------------------------------===//
// What it has nothing for
//===----------------------------------------------------------------------===//

TEST(CudaConvolution, TooLittleMemory) {
  Program program;
  program.rank().libraryBytes = 256;
  EXPECT_EQ(countThere(program), 0);
  program.rank().libraryBytes = 512;
  EXPECT_EQ(countThere(program), numKinds);
  // x and w are copied.
  int64_t needed =
      deviceConvolutionScratchBytes(program.rank().convolutions[0]);
  EXPECT_EQ(needed, 512 + 512);
  program.rank().convolutions[0].scratchBytes = needed;
  program.rank().convolutions[1].scratchBytes = needed - 1;
  EXPECT_EQ(countThere(program), numKinds - 1);
  EXPECT_EQ(isThere[1], 0);
}

TEST(CudaConvolution, OrdersThatItDoesNotTake) {
  Program program;
  // Channels between rows and columns.
  program.rank().convolutions[0].yStrides = {36, 12, 3, 12, 1};
  EXPECT_EQ(countThere(program), numKinds - 1);
  EXPECT_EQ(isThere[0], 0);
  // More than an int can count to.
  program.rank().convolutions[1].batch = 2;
  program.rank().convolutions[1].yStrides[0] = int64_t(1) << 33;
  EXPECT_EQ(countThere(program), numKinds - 2);
}

/// The types are those of cuDNN's documentation.
TEST(CudaConvolution, Types) {
  using artifact::ComputeType;
  using artifact::DataType;
  for (const cuda::DnnTypes &types : cuda::allDnnTypes()) {
    Program program;
    for (Convolution &convolution : program.rank().convolutions) {
      convolution.type = types.type;
      convolution.compute = types.compute;
    }
    EXPECT_EQ(countThere(program), numKinds) << artifact::name(types.type);
    EXPECT_EQ(standin::countLive(), 0);
  }
  Convolution convolution = makeConvolution(ConvolutionKind::forward);
  convolution.type = DataType::bf16;
  // Copies are of half the size, and start at multiples of 256.
  EXPECT_EQ(deviceConvolutionScratchBytes(convolution), 256 + 256);
  convolution.compute = ComputeType::tf32;
  EXPECT_FALSE(cuda::planConvolution(convolution));
  convolution.compute = ComputeType::f64;
  convolution.type = DataType::f64;
  EXPECT_FALSE(cuda::planConvolution(convolution));
}

/// cuDNN is asked whether it copies small floats: once, and only if something
/// is to be copied.
TEST(CudaConvolution, CopiesOfSmallFloats) {
  constexpr const char *copy = "cudnnTransformTensor";
  Program program;
  Convolution &inOrder = program.rank().convolutions[0];
  for (Convolution &convolution : program.rank().convolutions)
    convolution.type = artifact::DataType::bf16;
  standin::failCall(copy, 1, 3003);
  EXPECT_EQ(countThere(program), 0);
  EXPECT_EQ(program.remark, "cuDNN has nothing for 3 of 3 convolutions, which "
                            "are matrix products instead");
  // The first convolution copies nothing, and f32 is always copied.
  inOrder.xSizes = {7, 7};
  inOrder.xStrides = {98, 2, 1, 14, 2};
  inOrder.wStrides = {72, 18, 1, 6, 2};
  program.rank().convolutions[1].type = artifact::DataType::f32;
  standin::failCall(copy, 1, 3003);
  EXPECT_EQ(countThere(program), 2);
  EXPECT_EQ(isThere[2], 0);
  standin::failCall(copy, 1, 4000);
  expectMessage(program, "convolution 2: cudnnTransformTensor: "
                         "CUDNN_STATUS_INTERNAL_ERROR (4000)");
}

TEST(CudaConvolution, Unsupported) {
  const char *calls[] = {"cudnnGetConvolutionForwardAlgorithm_v7",
                         "cudnnGetConvolutionBackwardDataAlgorithm_v7",
                         "cudnnGetConvolutionBackwardFilterAlgorithm_v7"};
  for (int kind = 0; kind < numKinds; ++kind) {
    Program program;
    standin::failCall(calls[kind], 1, 3002);
    EXPECT_EQ(countThere(program), numKinds - 1);
    EXPECT_EQ(isThere[kind], 0);
    EXPECT_EQ(program.remark, "cuDNN has nothing for 1 of 3 convolutions, "
                              "which are matrix products instead");
  }
}

/// A convolution is matrix products wherever cuDNN says, while a program is
/// loaded, that it has nothing for it.
TEST(CudaConvolution, UnsupportedInAnyCall) {
  Program program;
  for (const char *call :
       {"cudnnCreateTensorDescriptor", "cudnnSetTensorNdDescriptor",
        "cudnnCreateFilterDescriptor", "cudnnSetFilterNdDescriptor",
        "cudnnCreateConvolutionDescriptor", "cudnnSetConvolutionNdDescriptor",
        "cudnnSetConvolutionGroupCount", "cudnnSetConvolutionMathType"}) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(countThere(program), numKinds) << call;
    int64_t count = standin::countCalls(call) - before;
    ASSERT_GE(count, numKinds) << call;
    for (int64_t nth = 1; nth <= count; ++nth) {
      standin::failCall(call, nth, 3003);
      EXPECT_EQ(countThere(program), numKinds - 1) << call << " " << nth;
      EXPECT_EQ(program.remark, "cuDNN has nothing for 1 of 3 convolutions, "
                                "which are matrix products instead");
      EXPECT_EQ(standin::countLive(), 0) << call << " " << nth;
    }
  }
  // cuDNN has nothing for this GPU.
  standin::failCall("cudnnCreate", 1, 3007);
  EXPECT_EQ(countThere(program), 0);
  EXPECT_EQ(program.remark, "cuDNN has nothing for 3 of 3 convolutions, which "
                            "are matrix products instead");
  EXPECT_EQ(standin::countLive(), 0);
}

//===----------------------------------------------------------------------===//
// What it refuses
//===----------------------------------------------------------------------===//

#define ERROR(name, code) {#name, code},
static const test::ErrorCode errors[] = {
#include "DnnErrors.inc"
};
#undef ERROR

TEST(CudaConvolution, EveryCode) {
  Program program;
  for (const test::ErrorCode &error : errors)
    for (const char *call :
         {"cudnnCreate", "cudnnSetTensorNdDescriptor",
          "cudnnSetConvolutionMathType", "cudnnConvolutionForward",
          "cudnnTransformTensor"}) {
      standin::failCall(call, 1, error.code);
      // Steps have chosen cuDNN, and cannot take the other way any more.
      bool isInStep = std::string(call) == "cudnnConvolutionForward" ||
                      std::string(call) == "cudnnTransformTensor";
      if (cuda::isUnsupported(error.code) && !isInStep)
        EXPECT_EQ(program.run(), "") << call << ": " << error.name;
      else
        expectMessage(program, std::string(call) + ": " + error.name + " (" +
                                   std::to_string(error.code) + ")");
    }
}

/// Each call fails once, at its first and at its last time.
TEST(CudaConvolution, EveryCall) {
#define NAME(type, name, parameters) #name,
  const std::string calls[] = {VEELINE_CUDNN_FUNCTIONS(NAME)};
#undef NAME
  Program program;
  for (const std::string &call : calls) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(program.run(), "") << call;
    int64_t count = standin::countCalls(call) - before;
    if (count == 0) {
      EXPECT_TRUE(call == "cudnnGetVersion" || call == "cudnnGetErrorString")
          << call;
      continue;
    }
    if (call.find("Destroy") != std::string::npos)
      continue;
    for (int64_t nth : {int64_t(1), count}) {
      standin::failCall(call, nth, 4000);
      expectMessage(program, call + ": CUDNN_STATUS_INTERNAL_ERROR (4000)");
      standin::failCall("", 0, 0);
    }
  }
}
