//===- RandomTest.cpp - numbers from counters -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "Tensor.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;
using artifact::Initializer;
using artifact::Parameter;

/// The known answers that the authors of Philox publish.
TEST(Random, PhiloxKnownAnswers) {
  using Four = std::array<uint32_t, 4>;
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, BelowStaysBelow) {
  RandomStream stream(1, "x");
  std::vector<int> counts(7);
  for (uint64_t i = 0; i < 70000; ++i)
    ++counts[stream.below(7, i)];
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 500);
}

template <typename T>
static std::vector<T> initialized(const Parameter &param, uint64_t seed) {
  std::vector<T> values(
      static_cast<size_t>(artifact::numElements(param.shape)));
  initialize(param, seed, reinterpret_cast<char *>(values.data()));
  return values;
}

TEST(Random, Moments) {
  Parameter normal{
      "w", {300, 301}, DataType::f32, {Initializer::Kind::normal, 0.5, 2}};
  Parameter uniform{
      "w", {300, 301}, DataType::f64, {Initializer::Kind::uniform, -1, 3}};
  auto check = [](const auto &values, double mean, double deviation) {
    double sum = 0, squares = 0;
    for (double value : values) {
      sum += value;
      squares += (value - mean) * (value - mean);
    }
    double count = double(values.size());
    EXPECT_NEAR(sum / count, mean, 5 * deviation / std::sqrt(count));
    EXPECT_NEAR(std::sqrt(squares / count), deviation, 0.02 * deviation);
  };
  check(initialized<float>(normal, 1), 0.5, 2);
  check(initialized<double>(uniform, 1), 1, 4 / std::sqrt(12.0));
  for (double value : initialized<double>(uniform, 2))
    EXPECT_TRUE(value >= -1 && value < 3);
}

/// All numbers of a type of 16 bits in the type `to`, by their bits.
template <typename T>
static std::vector<T> widenAll(DataType from, DataType to) {
  std::vector<uint16_t> bits(65536);
  std::iota(bits.begin(), bits.end(), 0);
  std::vector<T> values(bits.size());
  widenFloats({from,
               {65536},
               {reinterpret_cast<const char *>(bits.data()), 2 * bits.size()}},
              to, reinterpret_cast<char *>(values.data()));
  return values;
}

/// The value of a float by its fields.
static double valueOf(unsigned bits, unsigned fractionBits, int bias) {
  unsigned exponentBits = 15 - fractionBits;
  unsigned fraction = bits & ((1u << fractionBits) - 1);
  int exponent = (bits >> fractionBits) & ((1u << exponentBits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return sign * (fraction ? NAN : INFINITY);
  double scaled = exponent ? fraction + (1u << fractionBits) : fraction;
  return sign * std::ldexp(scaled, std::max(exponent, 1) - bias -
                                       static_cast<int>(fractionBits));
}

TEST(Floats, AllSmallOnesAreWidened) {
  for (DataType from : {DataType::bf16, DataType::f16}) {
    std::vector<float> single = widenAll<float>(from, DataType::f32);
    std::vector<double> twice = widenAll<double>(from, DataType::f64);
    for (unsigned bits = 0; bits < 65536; ++bits) {
      double expected = from == DataType::bf16 ? valueOf(bits, 7, 127)
                                               : valueOf(bits, 10, 15);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(single[bits]) && std::isnan(twice[bits]))
            << bits;
        continue;
      }
      ASSERT_EQ(single[bits], expected) << bits;
      ASSERT_EQ(twice[bits], expected) << bits;
      ASSERT_EQ(std::signbit(single[bits]), (bits & 0x8000) != 0) << bits;
    }
  }
}

TEST(Random, ConstantInitialisers) {
  Parameter param{"w", {3}, DataType::f32, {}};
  EXPECT_EQ(initialized<float>(param, 1), std::vector<float>({0, 0, 0}));
  param.init.kind = Initializer::Kind::ones;
  EXPECT_EQ(initialized<float>(param, 1), std::vector<float>({1, 1, 1}));
  param.init = {Initializer::Kind::constant, 2.5, 0};
  EXPECT_EQ(initialized<float>(param, 1), std::vector<float>({2.5, 2.5, 2.5}));
}

TEST(Random, DependsOnSeedAndNameOnly) {
  Parameter a{"a", {5}, DataType::f32, {Initializer::Kind::normal, 0, 1}};
  Parameter longer = a;
  longer.shape = {3, 4};
  Parameter b = a;
  b.name = "b";
  std::vector<float> values = initialized<float>(a, 1);
  std::vector<float> more = initialized<float>(longer, 1);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), more.begin()));
  EXPECT_NE(initialized<float>(b, 1), values);
  EXPECT_NE(initialized<float>(a, 2), values);
}
