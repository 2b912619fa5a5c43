//===- GemmImplementationTest.cpp - what the library chooses --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/Gemm.h"

#include <gtest/gtest.h>

using namespace veeline;
using artifact::DataType;
using artifact::Gemm;

static std::string implementationOf(const Gemm &gemm) {
  Expected<std::unique_ptr<library::PreparedCall>> prepared =
      library::prepareGemm(gemm);
  return prepared.ok() ? (*prepared)->implementation() : prepared.message();
}

/// Products of attention on slices of [sequence, 3 x heads x width]. The
/// library's first choice packs their operands into memory that it allocates in
/// each call.
static std::vector<Gemm> layoutsThatAllocate() {
  constexpr DataType f32 = DataType::f32;
  return {
      {f32, {}, 128, 64, 128, {1, 128}, {64, 1}, {320, 1}},
      {f32, {5}, 128, 64, 128, {16384, 1, 128}, {64, 320, 1}, {64, 320, 1}},
      {f32,
       {4, 5},
       128,
       128,
       64,
       {122880, 64, 960, 1},
       {122880, 64, 1, 960},
       {81920, 16384, 128, 1}},
      {f32,
       {4, 5},
       128,
       64,
       128,
       {81920, 16384, 1, 128},
       {40960, 8192, 64, 1},
       {122880, 64, 960, 1}},
  };
}

TEST(GemmImplementation, ScratchIsPlannedWhereTheCpuAllows) {
  if (!__builtin_cpu_supports("avx512bw"))
    GTEST_SKIP() << "the implementation that takes scratch needs AVX-512";
  for (const Gemm &gemm : layoutsThatAllocate())
    EXPECT_NE(implementationOf(gemm).find("brg:avx512"), std::string::npos)
        << implementationOf(gemm);
}

/// Heads of one sequence are a permutation, which four dimensions express.
TEST(GemmImplementation, PermutedBatchIsNotPacked) {
  if (!__builtin_cpu_supports("avx512bw"))
    GTEST_SKIP() << "the implementation that takes scratch needs AVX-512";
  Gemm gemm{DataType::f32,   {5},           128,         64, 128,
            {16384, 128, 1}, {8192, 64, 1}, {64, 320, 1}};
  EXPECT_EQ(implementationOf(gemm).find("packed"), std::string::npos)
      << implementationOf(gemm);
}
