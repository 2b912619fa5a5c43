//===- CudaAttentionTest.cpp - attention by cuDNN, and without ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graphs of AttentionDnn.cpp, run node by node by the stand-in, beside a
// definition in f64; what is there and what is not; what cuDNN refuses.
//
//===----------------------------------------------------------------------===//

#include "CudaAttention.h"
#include "AttentionDnn.h"

#include <algorithm>
#include <cmath>
#include <dlfcn.h>

using namespace veeline;
using namespace veeline::test;
using artifact::Attention;
using artifact::DataType;

/// Expects differences within `tolerance` of the largest number, or of 1: some
/// gradients are all zeros, as sums of terms that are not.
static void expectNear(const Numbers &found, const Numbers &expected,
                       double tolerance, const std::string &what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 1, farthest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    double distance = std::fabs(found[i] - expected[i]);
    farthest = distance >= 0 ? std::max(farthest, distance) : INFINITY;
  }
  EXPECT_LE(farthest, tolerance * largest) << what;
}

static void expectRight(Program &program, const std::string &what) {
  ASSERT_EQ(program.run(), "") << what;
  ASSERT_EQ(program.isThere[0] + program.isThere[1], 2) << what;
  Definition definition(program);
  double tolerance =
      program.problem.forward.type == DataType::f16 ? 4e-3 : 3e-2;
  // The stand-in of atomic sums rounds parts of them.
  bool isExact = program.problem.forward.deterministic;
  static const char *names[] = {"output", "lse", "query's", "key's", "value's"};
  const Which all[] = {output, lse, queryGrad, keyGrad, valueGrad};
  for (const auto &step : program.results)
    for (size_t i = 0; i < std::size(all); ++i)
      expectNear(step[all[i]], definition.of(all[i]),
                 all[i] == lse && isExact ? 1e-5 : tolerance,
                 what + ", " + names[i]);
}

/// Which attentions are there: 1 for the forward one, plus 2 for the
/// derivative.
static int whichAreThere(Program &program) {
  EXPECT_EQ(program.run(), "");
  return program.isThere[0] + 2 * program.isThere[1];
}

//===----------------------------------------------------------------------===//
// What is computed
//===----------------------------------------------------------------------===//

TEST(CudaAttention, AsDefined) {
  for (bool deterministic : {true, false}) {
    Program program(makeProblem(deterministic));
    expectRight(program, deterministic ? "deterministic" : "in any order");
    EXPECT_EQ(program.remark, "");
    EXPECT_EQ(standin::countLive(), 0);
  }
}

/// Causal or not, with masks along any dimensions, shared keys, lengths of
/// their own, rows apart in any order.
TEST(CudaAttention, RandomShapes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    auto upTo = [&](int64_t most) {
      return 1 + static_cast<int64_t>(random() % most);
    };
    Problem problem;
    Attention &a = problem.forward;
    a.type = random() % 2 ? DataType::f16 : DataType::bf16;
    a.batch = upTo(3);
    a.keyHeads = upTo(3);
    a.heads = a.keyHeads * upTo(3);
    a.queries = upTo(12);
    a.keys = upTo(12);
    a.depth = 8 * upTo(3);
    a.valueDepth = 8 * upTo(3);
    a.scale = 1 / std::sqrt(static_cast<double>(a.depth));
    a.causal = random() % 2;
    a.deterministic = random() % 2;
    a.maskType = random() % 2 ? DataType::f32 : a.type;
    if (random() % 2)
      for (int i = 0; i < 3; ++i)
        a.maskStrides.push_back(static_cast<int64_t>(random() % 2));
    layOut(problem, random, /*isDense=*/seed % 4 == 0);
    Program program(problem);
    expectRight(program, "seed " + std::to_string(seed));
  }
}

/// Sums of f32 in memory have another order in each run; without them bits stay
/// the same, as issued and in a graph.
TEST(CudaAttention, SameBits) {
  for (bool deterministic : {true, false}) {
    Program program(makeProblem(deterministic));
    ASSERT_EQ(program.run(), "");
    bool isSame =
        program.results[0][queryGrad] == program.results[1][queryGrad] &&
        program.results[1][queryGrad] == program.results[2][queryGrad];
    EXPECT_EQ(isSame, deterministic);
    if (deterministic) {
      EXPECT_EQ(program.results[0], program.results[1]);
      EXPECT_EQ(program.results[1], program.results[2]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Whether it is there
//===----------------------------------------------------------------------===//

TEST(CudaAttention, IssuedAndCaptured) {
  Program program(makeProblem());
  int64_t before = standin::countCalls("cudnnBackendExecute");
  EXPECT_EQ(whichAreThere(program), 3);
  EXPECT_EQ(standin::countCalls("cudnnBackendExecute") - before, 4);
}

TEST(CudaAttention, ByChoiceWithout) {
  Program program(makeProblem());
  program.options.cudnn = "none";
  EXPECT_EQ(whichAreThere(program), 0);
  EXPECT_EQ(program.remark, "");
  program.callsAll = true;
  expectMessage(program, "step: rank 0: attention 0 is called, and no library "
                         "computes it");
}

TEST(CudaAttention, NotInstalled) {
  if (void *installed = ::dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL)) {
    ::dlclose(installed);
    GTEST_SKIP() << "cuDNN is installed";
  }
  Program program(makeProblem());
  program.options.cudnn.clear();
  EXPECT_EQ(whichAreThere(program), 0);
  EXPECT_EQ(program.remark.find(
                "attention is in kernels of the artifact: cannot load cuDNN"),
            0u)
      << program.remark;
}

TEST(CudaAttention, Engines) {
  auto there = [](const char *engines, bool deterministic) {
    test::Environment only("VEELINE_STANDIN_ENGINES", engines);
    Program program(makeProblem(deterministic));
    return whichAreThere(program);
  };
  for (const char *none : {"", "unsupported", "uncompilable", "large",
                           "unsupported, uncompilable, large"})
    for (bool deterministic : {true, false})
      EXPECT_EQ(there(none, deterministic), 0) << none;
  EXPECT_EQ(there("nondeterministic", /*deterministic=*/true), 0);
  EXPECT_EQ(there("nondeterministic", /*deterministic=*/false), 3);
  EXPECT_EQ(there("plain", /*deterministic=*/true), 3);
  EXPECT_EQ(there("plain", /*deterministic=*/false), 3);
}

/// What is said where a part is not there.
TEST(CudaAttention, Remark) {
  Program program(makeProblem(), /*libraryBytes=*/512);
  EXPECT_EQ(whichAreThere(program), 1);
  EXPECT_EQ(program.remark,
            "cuDNN has nothing for 1 of 2 attentions in the memory that "
            "libraries have, which are in kernels instead (compile with "
            "--no-deterministic for derivatives that take less)");
}

TEST(CudaAttention, TooLittleMemory) {
  Program without(makeProblem(), /*libraryBytes=*/256);
  EXPECT_EQ(whichAreThere(without), 0);
  // Gradients of scores: of 2 * 4 heads in tiles of 64 by 64.
  constexpr int64_t scores = 2 * 4 * 64 * 64 * 2;
  Program less(makeProblem(), 512 + scores - 256);
  EXPECT_EQ(whichAreThere(less), 1);
  Program enough(makeProblem(), 512 + scores);
  EXPECT_EQ(whichAreThere(enough), 3);
  // In any order, it needs sums in scratch instead.
  Problem problem = makeProblem(/*deterministic=*/false);
  EXPECT_EQ(problem.backward.scratchBytes, 256 + 2 * 4 * 5 * 16 * 4);
  Program sums(problem, /*libraryBytes=*/512);
  EXPECT_EQ(whichAreThere(sums), 3);
  sums.rank().attentions[1].scratchBytes -= 1;
  EXPECT_EQ(whichAreThere(sums), 1);
}

/// Some versions are known to be wrong.
TEST(CudaAttention, Versions) {
  auto there = [](const char *version, int64_t keys) {
    test::Environment other("VEELINE_STANDIN_CUDNN", version);
    Problem problem = makeProblem();
    problem.forward.keys = keys;
    problem.arenaBytes = 0;
    std::mt19937 random(1);
    layOut(problem, random, /*isDense=*/true);
    Program program(problem);
    return whichAreThere(program);
  };
  EXPECT_EQ(there("90800", 128), 0);
  EXPECT_EQ(there("91001", 128), 0);
  EXPECT_EQ(there("91002", 128), 3);
  EXPECT_EQ(there("91500", 7), 1);
  EXPECT_EQ(there("91501", 7), 3);
}

TEST(CudaAttention, ShapesThatItDoesNotTake) {
  Problem problem = makeProblem();
  problem.forward.queryStrides[2] = 20;
  problem.backward.queryStrides[2] = 20;
  Program odd(problem);
  EXPECT_EQ(whichAreThere(odd), 0);
}

TEST(CudaAttention, NotValid) {
  auto messageOf = [](auto change) {
    Problem problem = makeProblem();
    change(problem);
    Program program(problem);
    return program.run();
  };
  const std::string where = "not valid: program 'suite', rank 0, attention ";
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.type = DataType::f32; }),
            where + "0: its type is neither f16 nor bf16");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.keys = 0; }),
            where + "0: an extent is not in [1, 2^31)");
  EXPECT_EQ(messageOf([](Problem &p) { p.backward.keyHeads = 3; }),
            where + "1: its heads do not share those of keys evenly");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.keyStrides[1] = 0; }),
            where + "0: an operand has not three positive strides");
  EXPECT_EQ(messageOf([](Problem &p) { p.backward.keyGradStrides.clear(); }),
            where + "1: gradients have not three positive strides, in a "
                    "derivative alone");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.maskStrides = {1}; }),
            where + "0: its mask has not three strides");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.maskType = DataType::f16; }),
            where + "0: its mask is neither of f32 nor of its type");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.scratchBytes = -1; }),
            where + "0: its scratch is negative");
}

//===----------------------------------------------------------------------===//
// What it refuses
//===----------------------------------------------------------------------===//

/// Kernels compute attention wherever cuDNN says, while a program is loaded,
/// that it has nothing for it.
TEST(CudaAttention, Unsupported) {
  Program program(makeProblem());
  // The last calls make the operands of two executions, issued and captured.
  for (auto [call, ofOperands] : {std::pair("cudnnBackendFinalize", 1),
                                  std::pair("cudnnBackendCreateDescriptor", 1),
                                  std::pair("cudnnBackendSetAttribute", 3),
                                  std::pair("cudnnBackendGetAttribute", 0)}) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(whichAreThere(program), 3);
    int64_t count = standin::countCalls(call) - before - 4 * ofOperands;
    ASSERT_GT(count, 10) << call;
    int64_t withoutOne = 0;
    for (int64_t nth = 1; nth <= count; ++nth) {
      standin::failCall(call, nth, 3001);
      int there = whichAreThere(program);
      EXPECT_TRUE(there != 0) << call << " " << nth;
      withoutOne += there != 3;
      standin::failCall("", 0, 0);
    }
    // If an engine fails, the next one is taken.
    EXPECT_TRUE(ofOperands == 0 || withoutOne > 50) << call;
    EXPECT_EQ(standin::countLive(), 0) << call;
  }
}

#define ERROR(name, code) {#name, code},
static const test::ErrorCode errors[] = {
#include "DnnErrors.inc"
};
#undef ERROR

TEST(CudaAttention, EveryCode) {
  Program program(makeProblem());
  for (const test::ErrorCode &error : errors)
    for (const char *call :
         {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
          "cudnnBackendGetAttribute", "cudnnBackendExecute"}) {
      bool isInStep = std::string(call) == "cudnnBackendExecute";
      standin::failCall(call, 1, error.code);
      // Steps have chosen cuDNN, and cannot take kernels any more.
      if (cuda::isUnsupported(error.code) && !isInStep) {
        EXPECT_EQ(program.run(), "") << call << ": " << error.name;
        continue;
      }
      expectMessage(program, std::string(call) + ": " + error.name + " (" +
                                 std::to_string(error.code) + ")");
      if (!isInStep) {
        standin::failCall(call, 1, error.code);
        expectMessage(program, "; --cudnn none does without cuDNN");
      }
    }
}

/// Each call fails at many of its times.
TEST(CudaAttention, EveryCall) {
#define NAME(type, name, parameters) #name,
  const std::string calls[] = {VEELINE_CUDNN_GRAPH_FUNCTIONS(NAME)};
#undef NAME
  Program program(makeProblem());
  for (const std::string &call : calls) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(program.run(), "") << call;
    int64_t count = standin::countCalls(call) - before;
    EXPECT_GT(count, 0) << call;
    if (call.find("Destroy") != std::string::npos)
      continue;
    for (int64_t nth = 1; nth <= count;
         nth += std::max<int64_t>(count / 40, 1)) {
      standin::failCall(call, nth, 4000);
      expectMessage(program, call + ": CUDNN_STATUS_INTERNAL_ERROR (4000)");
      standin::failCall("", 0, 0);
    }
  }
}
