//===- TensorTraceTest.cpp - statistics of tensors ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorTrace.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::engine;
using artifact::DataType;

template <typename T>
static void expectStatistics(DataType type, const std::vector<T> &elements) {
  // 1, 2, 3 and -2: mean 1, squares of differences 0, 1, 4 and 9.
  TensorStatistics result = measureTensor(
      type, static_cast<int64_t>(elements.size()), elements.data());
  EXPECT_EQ(result.mean, 1) << artifact::name(type);
  EXPECT_EQ(result.deviation, std::sqrt(14.0 / 3)) << artifact::name(type);
  EXPECT_EQ(result.least, -2) << artifact::name(type);
  EXPECT_EQ(result.greatest, 3) << artifact::name(type);
}

TEST(TensorTrace, StatisticsOfEachType) {
  expectStatistics<float>(DataType::f32, {1, 2, 3, -2});
  expectStatistics<double>(DataType::f64, {1, 2, 3, -2});
  expectStatistics<uint16_t>(DataType::bf16, {0x3f80, 0x4000, 0x4040, 0xc000});
  expectStatistics<uint16_t>(DataType::f16, {0x3c00, 0x4000, 0x4200, 0xc000});
  expectStatistics<int8_t>(DataType::i8, {1, 2, 3, -2});
  expectStatistics<int16_t>(DataType::i16, {1, 2, 3, -2});
  expectStatistics<int32_t>(DataType::i32, {1, 2, 3, -2});
  expectStatistics<int64_t>(DataType::i64, {1, 2, 3, -2});
  int8_t bits[] = {0, 1, 1, 0};
  EXPECT_EQ(measureTensor(DataType::i1, 4, bits).mean, 0.5);
  EXPECT_EQ(measureTensor(DataType::i1, 4, bits).greatest, 1);
}

TEST(TensorTrace, OneElementDoesNotDeviate) {
  double element = 5;
  TensorStatistics result = measureTensor(DataType::f64, 1, &element);
  EXPECT_EQ(result.mean, 5);
  EXPECT_EQ(result.deviation, 0);
}

/// Wherever it is.
TEST(TensorTrace, NaNsAreSeen) {
  for (int place = 0; place < 3; ++place) {
    float elements[] = {1, -INFINITY, 3};
    elements[place] = NAN;
    TensorStatistics result = measureTensor(DataType::f32, 3, elements);
    EXPECT_TRUE(std::isnan(result.mean) && std::isnan(result.least) &&
                std::isnan(result.greatest) && std::isnan(result.deviation))
        << place;
  }
}
