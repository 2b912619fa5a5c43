//===- TrainTest.cpp - the parts of the training loop ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "Options.h"
#include "Progress.h"
#include "veeline/Base/Suggest.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace veeline;
using namespace veeline::train;
using artifact::DataType;
using artifact::Parameter;

TEST(LearningRate, WarmupThenCosine) {
  Options options;
  options.steps = 110;
  options.warmupSteps = 10;
  options.optimizer.learningRate = 1;
  options.minLearningRate = 0.2;
  auto rate = [&](int64_t step) {
    return settingsOfStep(options, step).learningRate;
  };
  EXPECT_DOUBLE_EQ(rate(1), 0.1);
  EXPECT_DOUBLE_EQ(rate(10), 1);
  EXPECT_NEAR(rate(60), 0.6, 1e-12);
  EXPECT_DOUBLE_EQ(rate(110), 0.2);
  for (int64_t step = 11; step <= 110; ++step)
    EXPECT_LT(rate(step), rate(step - 1));
  options.minLearningRate.reset();
  EXPECT_DOUBLE_EQ(rate(77), 1);
}

TEST(LearningRate, OnlyWarmup) {
  Options options;
  options.steps = options.warmupSteps = 4;
  options.optimizer.learningRate = 1;
  EXPECT_DOUBLE_EQ(settingsOfStep(options, 4).learningRate, 1);
}

template <typename T> static std::vector<char> bytesOf(std::vector<T> values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Compare, FirstDifferenceWithPosition) {
  Parameter param{"w", {2, 2}, DataType::f32, {}};
  auto a = bytesOf<float>({1, 2, 3, 4});
  EXPECT_EQ(describeDifference(param, a, "x", a, "y"), "");
  EXPECT_EQ(
      describeDifference(param, a, "x", bytesOf<float>({1, 2, 0.5, 5}), "y"),
      "element 2 ([1, 0]) is 3 (0x40400000) in x, 0.5 (0x3f000000) in y; "
      "2 of 4 elements differ");
}

/// Bits, not values: -0 is not 0, and a NaN equals itself.
TEST(Compare, Bits) {
  Parameter param{"w", {1}, DataType::f64, {}};
  EXPECT_NE(describeDifference(param, bytesOf<double>({0.0}), "x",
                               bytesOf<double>({-0.0}), "y"),
            "");
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(describeDifference(param, bytesOf<double>({nan}), "x",
                               bytesOf<double>({nan}), "y"),
            "");
}

TEST(Compare, RelativeDistance) {
  Parameter param{"w", {2}, DataType::f32, {}};
  auto distance = [&](std::vector<float> a, std::vector<float> b) {
    return relativeDistance(param, bytesOf(std::move(a)),
                            bytesOf(std::move(b)));
  };
  EXPECT_DOUBLE_EQ(distance({3, 4}, {0, 4}), 0.75);
  EXPECT_EQ(distance({0, 0}, {0, 0}), 0);
  EXPECT_TRUE(std::isinf(distance({1, 0}, {0, 0})));
  EXPECT_TRUE(std::isinf(
      distance({std::numeric_limits<float>::quiet_NaN(), 0}, {1, 0})));
}

TEST(Progress, Durations) {
  EXPECT_EQ(formatDuration(0.4), "0s");
  EXPECT_EQ(formatDuration(59.6), "1m00s");
  EXPECT_EQ(formatDuration(3599), "59m59s");
  EXPECT_EQ(formatDuration(7260), "2h01m");
}

TEST(Suggest, NearestName) {
  std::vector<std::string> known = {"pipeline", "sequential", "reference"};
  EXPECT_EQ(nearest("pipline", known), "pipeline");
  EXPECT_EQ(nearest("refrence", known), "reference");
  EXPECT_EQ(nearest("xyz", known), "");
  EXPECT_EQ(suggestion("sequentail", known), "; did you mean 'sequential'?");
}
