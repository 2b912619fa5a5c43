//===- GemmTest.cpp - matrix products of all layouts ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

using namespace veeline;
using namespace veeline::cts;
using artifact::DataType;
using artifact::Gemm;

static constexpr int64_t operandBytes = 1 << 20;

/// The operands lie one after the other in the arena, then the scratch.
static void multiply(veeline_rank *rank, char *arena, const void *const *) {
  veeline_gemm(rank, 0, arena, arena + operandBytes, arena + 2 * operandBytes,
               arena + 3 * operandBytes);
}

template <typename T>
static void referenceGemm(const Gemm &gemm, size_t dimension, const T *a,
                          const T *b, double *c) {
  if (dimension < gemm.batch.size()) {
    for (int64_t i = 0; i < gemm.batch[dimension]; ++i)
      referenceGemm(gemm, dimension + 1, a + i * gemm.aStrides[dimension],
                    b + i * gemm.bStrides[dimension],
                    c + i * gemm.cStrides[dimension]);
    return;
  }
  for (int64_t i = 0; i < gemm.m; ++i)
    for (int64_t j = 0; j < gemm.n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < gemm.k; ++p)
        sum += double(a[i * gemm.aStrides[dimension] +
                        p * gemm.aStrides[dimension + 1]]) *
               double(b[p * gemm.bStrides[dimension] +
                        j * gemm.bStrides[dimension + 1]]);
      c[i * gemm.cStrides[dimension] + j * gemm.cStrides[dimension + 1]] = sum;
    }
}

/// Runs `gemm` on random values into a c full of NaN: every element must be
/// written, and nothing but elements.
template <typename T> static void check(Gemm gemm, double tolerance) {
  gemm.type = gemm.cType = sizeof(T) == 8 ? DataType::f64 : DataType::f32;
  gemm.compute = artifact::computeTypeOf(gemm.type);
  if (std::string reason = backend().reasonAgainst(gemm); !reason.empty()) {
    std::printf("not computed: %s\n", reason.c_str());
    return;
  }
  Fixture fixture({multiply}, 5 * operandBytes);
  fixture.rank(0).gemms = {gemm};
  ASSERT_NO_FATAL_FAILURE(fixture.create());

  size_t count = operandBytes / sizeof(T);
  std::mt19937 random(3);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> a(count), b(count);
  std::vector<T> c(count, std::numeric_limits<T>::quiet_NaN());
  for (size_t i = 0; i < count; ++i) {
    a[i] = uniform(random);
    b[i] = uniform(random);
  }
  std::vector<double> expected(count, std::numeric_limits<double>::quiet_NaN());
  referenceGemm(gemm, 0, a.data(), b.data(), expected.data());

  Executor &executor = fixture.executor();
  ASSERT_TRUE(executor.write(0, 0, a.data(), operandBytes).ok());
  ASSERT_TRUE(executor.write(0, operandBytes, b.data(), operandBytes).ok());
  ASSERT_TRUE(executor.write(0, 2 * operandBytes, c.data(), operandBytes).ok());
  Status status = fixture.step();
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(executor.read(0, 2 * operandBytes, c.data(), operandBytes).ok());
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(std::isnan(c[i]), std::isnan(expected[i])) << "element " << i;
    if (!std::isnan(expected[i])) {
      ASSERT_NEAR(double(c[i]), expected[i], tolerance) << "element " << i;
    }
  }
}

static void checkBoth(const Gemm &gemm) {
  check<float>(gemm, 1e-4);
  check<double>(gemm, 1e-12);
}

static Gemm plain(int64_t m, int64_t n, int64_t k) {
  return {DataType::f32, {}, m, n, k, {k, 1}, {n, 1}, {n, 1}, 1 << 20};
}

TEST(Gemm, AllTransposes) {
  for (int mask = 0; mask < 8; ++mask) {
    Gemm gemm = plain(33, 20, 47);
    if (mask & 1)
      gemm.aStrides = {1, 33};
    if (mask & 2)
      gemm.bStrides = {1, 47};
    if (mask & 4)
      gemm.cStrides = {1, 33};
    SCOPED_TRACE(mask);
    checkBoth(gemm);
  }
}

TEST(Gemm, SmallExtents) {
  for (int64_t m : {1, 5})
    for (int64_t n : {1, 7})
      for (int64_t k : {1, 3}) {
        SCOPED_TRACE(testing::Message() << m << " " << n << " " << k);
        checkBoth(plain(m, n, k));
        Gemm transposed = plain(m, n, k);
        transposed.aStrides = {1, m};
        transposed.bStrides = {1, k};
        checkBoth(transposed);
      }
}

TEST(Gemm, RowsWithGaps) {
  Gemm gemm = plain(16, 24, 32);
  gemm.aStrides = {40, 1};
  gemm.bStrides = {1, 100};
  gemm.cStrides = {30, 1};
  checkBoth(gemm);
}

TEST(Gemm, NoUnitStrideAtAll) {
  Gemm gemm = plain(9, 11, 13);
  gemm.aStrides = {40, 2};
  gemm.bStrides = {3, 50};
  gemm.cStrides = {2, 32};
  checkBoth(gemm);
}

TEST(Gemm, BatchedWithTransposes) {
  Gemm gemm{DataType::f32, {6},          32,           24,     16,
            {512, 16, 1},  {384, 1, 16}, {768, 24, 1}, 1 << 20};
  checkBoth(gemm);
  gemm.aStrides = {512, 1, 32};
  checkBoth(gemm);
  gemm.cStrides = {768, 1, 32};
  checkBoth(gemm);
}

/// Attention on [sequence, head, width] without a transposed copy.
TEST(Gemm, HeadsInsideOfRows) {
  Gemm gemm{DataType::f32,
            {2, 5},
            12,
            12,
            16,
            {12 * 80, 16, 80, 1},
            {12 * 80, 16, 1, 80},
            {5 * 144, 144, 12, 1},
            1 << 20};
  checkBoth(gemm);
}

/// The same on slices of rows that hold queries, keys and values.
TEST(Gemm, HeadsInsideOfRowsWithGaps) {
  Gemm gemm{DataType::f32,
            {2, 5},
            12,
            12,
            16,
            {12 * 240, 16, 240, 1},
            {12 * 240, 16, 1, 240},
            {5 * 144, 144, 12, 1},
            1 << 20};
  checkBoth(gemm);
  gemm = {DataType::f32,
          {2, 5},
          12,
          16,
          12,
          {5 * 144, 144, 1, 12},
          {5 * 192, 192, 16, 1},
          {12 * 240, 16, 240, 1},
          1 << 20};
  checkBoth(gemm);
}

TEST(Gemm, HeadsInsideOfRowsOfOneSequence) {
  Gemm gemm{DataType::f32, {5},         12,          16,     12,
            {144, 1, 12},  {16, 80, 1}, {16, 80, 1}, 1 << 20};
  checkBoth(gemm);
}

TEST(Gemm, BroadcastOverBatch) {
  Gemm gemm{DataType::f32, {3, 4},           8,      10, 6, {0, 48, 6, 1},
            {0, 0, 10, 1}, {320, 80, 10, 1}, 1 << 20};
  checkBoth(gemm);
}

TEST(Gemm, ThreeBatchDimensions) {
  Gemm gemm{DataType::f32,
            {2, 3, 4},
            5,
            6,
            7,
            {420, 140, 35, 7, 1},
            {42, 84, 252, 6, 1},
            {360, 120, 30, 6, 1},
            1 << 20};
  checkBoth(gemm);
}

/// A machine may want more scratch than the one that compiled.
TEST(Gemm, WithoutPlannedScratch) {
  Gemm gemm = plain(33, 20, 47);
  gemm.aStrides = {1, 33};
  gemm.scratchBytes = 0;
  checkBoth(gemm);
}

/// The same product gives the same bits, however often and wherever it runs.
TEST(Gemm, SameBitsInEveryRank) {
  Fixture fixture({multiply, multiply, multiply}, 5 * operandBytes);
  for (size_t rank = 0; rank < 3; ++rank)
    fixture.rank(rank).gemms = {plain(128, 96, 300)};
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  std::vector<float> values(operandBytes / sizeof(float));
  std::mt19937 random(9);
  for (float &value : values)
    value = std::uniform_real_distribution<float>(-1, 1)(random);
  for (int32_t rank = 0; rank < 3; ++rank)
    for (int64_t operand = 0; operand < 2; ++operand)
      ASSERT_TRUE(
          fixture.executor()
              .write(rank, operand * operandBytes, values.data(), operandBytes)
              .ok());
  std::vector<char> results[3];
  for (int step = 0; step < 2; ++step) {
    ASSERT_TRUE(fixture.step().ok());
    for (int32_t rank = 0; rank < 3; ++rank) {
      results[rank].resize(128 * 96 * sizeof(float));
      ASSERT_TRUE(fixture.executor()
                      .read(rank, 2 * operandBytes, results[rank].data(),
                            static_cast<int64_t>(results[rank].size()))
                      .ok());
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}
