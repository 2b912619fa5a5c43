//===- FusionTest.cpp - bits do not depend on fusion ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "CompiledModule.h"
#include "RandomProgram.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::test;

namespace {

/// Functions in all modules that were compiled with and without fusion.
unsigned numFunctions[2];

template <typename T> using Tensors = std::vector<std::vector<T>>;

/// The arguments of a program, and what is in its results before.
template <typename T> struct Inputs {
  Tensors<T> arguments, results;

  explicit Inputs(const RandomProgram &program) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> distribution(-1, 1);
    auto fill = [&](const std::vector<int64_t> &sizes, Tensors<T> &tensors) {
      for (int64_t size : sizes) {
        tensors.emplace_back(size);
        for (T &value : tensors.back())
          value = distribution(random);
      }
    };
    fill(program.arguments, arguments);
    fill(program.results, results);
  }
};

template <typename T>
Tensors<T> runProgram(const RandomProgram &program,
                      const CompileOptions &options) {
  CompiledModule module(program.text, options);
  numFunctions[options.fuse] += module.numFunctions();
  Inputs<T> inputs(program);
  std::vector<void *> pointers;
  for (auto &argument : inputs.arguments)
    pointers.push_back(argument.data());
  for (auto &result : inputs.results)
    pointers.push_back(result.data());
  module.call("f", pointers);
  EXPECT_LE(module.peakLiveBytes("f"), module.workspaceBytes("f"));
  return inputs.results;
}

template <typename T>
void expectSame(const RandomProgram &program, const CompileOptions &a,
                const CompileOptions &b) {
  auto left = runProgram<T>(program, a), right = runProgram<T>(program, b);
  for (size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(0, std::memcmp(left[i].data(), right[i].data(),
                             left[i].size() * sizeof(T)))
        << "result " << i << " of\n"
        << program.text;
}

/// |a - b|, relative to the largest number of the tensor that either is in.
double distance(const std::vector<double> &a, const std::vector<double> &b) {
  double largest = 1e-300, worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::isfinite(a[i]))
      largest = std::max(largest, std::fabs(a[i]));
  for (size_t i = 0; i < a.size(); ++i) {
    bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!same)
      worst = std::max(worst, std::isfinite(a[i]) && std::isfinite(b[i])
                                  ? std::fabs(a[i] - b[i]) / largest
                                  : 1.0);
  }
  return worst;
}

unsigned numPrograms() { return rounds(300); }

TEST(Fusion, RandomProgramsComputeWhatTheySay) {
  for (unsigned seed = 0; seed < numPrograms() && !HasFailure(); ++seed) {
    RandomProgram program(seed, "f64");
    Inputs<double> inputs(program);
    Tensors<double> expected =
        program.evaluate(inputs.arguments, inputs.results);
    Tensors<double> actual = runProgram<double>(program, {});
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_LE(distance(expected[i], actual[i]), 1e-9)
          << "result " << i << " of\n"
          << program.text;
  }
}

TEST(Fusion, BitsOfRandomProgramsDoNotDependOnIt) {
  numFunctions[false] = numFunctions[true] = 0;
  for (unsigned seed = 0; seed < numPrograms() && !HasFailure(); ++seed)
    expectSame<float>(RandomProgram(seed), {.fuse = true}, {.fuse = false});
  // There was something to compare: many kernels are gone.
  EXPECT_LT(numFunctions[true], 0.7 * numFunctions[false]);
}

TEST(Fusion, BitsOfRandomDoubleProgramsDoNotDependOnIt) {
  for (unsigned seed = 0; seed < numPrograms() / 4 && !HasFailure(); ++seed)
    expectSame<double>(RandomProgram(seed, "f64"), {.fuse = true},
                       {.fuse = false});
}

TEST(Fusion, BitsDoNotDependOnTheProcessor) {
  for (unsigned seed = 0; seed < numPrograms() / 8 && !HasFailure(); ++seed) {
    expectSame<float>(RandomProgram(seed), {.cpu = "native"},
                      {.cpu = "x86-64"});
    expectSame<float>(RandomProgram(seed), {.cpu = "native"},
                      {.cpu = "x86-64-v3"});
  }
}

} // namespace
