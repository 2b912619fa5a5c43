//===- TensorTest.cpp - conversions of floats, orders of dimensions -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"
#include "NameMap.h"
#include "veeline/Base/HalfFloats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;

namespace {
/// A type of 16 bits.
struct Half {
  const char *name;
  float (*from)(uint16_t);
  uint16_t (*to)(float);
};
constexpr Half halves[] = {{"bf16", fromBf16, toBf16}, {"f16", fromF16, toF16}};
} // namespace

TEST(HalfFloats, EveryNumberIsItself) {
  for (const Half &half : halves)
    for (uint32_t bits = 0; bits < 0x10000; ++bits)
      ASSERT_EQ(half.to(half.from(static_cast<uint16_t>(bits))), bits)
          << half.name;
}

/// Between two numbers in succession: the nearer one, of two the even one.
TEST(HalfFloats, TheNearestIsTaken) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const Half &half : halves)
    for (uint32_t bits = 0; bits < 0x8000; ++bits) {
      double low = half.from(static_cast<uint16_t>(bits));
      double high = half.from(static_cast<uint16_t>(bits + 1));
      if (!std::isfinite(low) || std::isnan(high))
        continue;
      // What comes after the largest one, were there an exponent more.
      if (high == inf)
        high = low + (low - half.from(static_cast<uint16_t>(bits - 1)));
      double middle = low + (high - low) / 2;
      uint32_t even = bits + (bits & 1);
      for (double sign : {1.0, -1.0}) {
        uint32_t with = sign < 0 ? 0x8000 : 0;
        auto at = [&](double value) {
          return half.to(roundToOdd(sign * value));
        };
        ASSERT_EQ(at(middle), with | even) << half.name << " " << middle;
        ASSERT_EQ(at(std::nextafter(middle, inf)), with | (bits + 1)) << middle;
        ASSERT_EQ(at(std::nextafter(middle, 0)), with | bits) << middle;
      }
    }
}

TEST(HalfFloats, WhatIsNoNumber) {
  for (const Half &half : halves)
    for (uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xffffffffu, 0xff800001u})
      EXPECT_TRUE(std::isnan(half.from(half.to(std::bit_cast<float>(bits)))));
  EXPECT_EQ(fromF16(toF16(1e30f)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(fromBf16(toBf16(roundToOdd(-1e300))),
            -std::numeric_limits<float>::infinity());
}

/// Converts numbers, as `from`, to `to` and back to f64.
static std::vector<double> convert(const std::vector<double> &numbers,
                                   DataType from, DataType to) {
  auto count = static_cast<int64_t>(numbers.size());
  auto change = [&](const std::string &bytes, DataType before, DataType after) {
    std::string result(static_cast<size_t>(count * artifact::byteSize(after)),
                       0);
    convertFloats({before, {count}, bytes}, after, result.data());
    return result;
  };
  std::string bytes(reinterpret_cast<const char *>(numbers.data()),
                    numbers.size() * sizeof(double));
  bytes = change(change(change(bytes, DataType::f64, from), from, to), to,
                 DataType::f64);
  std::vector<double> result(numbers.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST(Tensor, FloatsOfEveryTypeAreConverted) {
  std::vector<double> numbers = {0, -0.5, 1.25, 384, -0x1p-14};
  for (DataType from :
       {DataType::f64, DataType::f32, DataType::bf16, DataType::f16})
    for (DataType to :
         {DataType::f64, DataType::f32, DataType::bf16, DataType::f16})
      EXPECT_EQ(convert(numbers, from, to), numbers);
  EXPECT_EQ(convert({1 + 0x1p-9}, DataType::f32, DataType::bf16)[0], 1);
  EXPECT_EQ(convert({1 + 0x1p-9}, DataType::f16, DataType::f32)[0], 1 + 0x1p-9);
}

TEST(Permute, IsUndoneByItsInverse) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::vector<int64_t> shape(1 + random() % 4), order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    for (int64_t &extent : shape)
      extent = 1 + static_cast<int64_t>(random() % 4);
    std::vector<int32_t> values(
        static_cast<size_t>(artifact::numElements(shape)));
    std::iota(values.begin(), values.end(), 0);
    std::vector<int32_t> there(values.size()), back(values.size());
    ASSERT_TRUE(isOrderOf(order, shape.size()));
    NameInFile inFile{"w", order};
    auto bytesOf = [](const std::vector<int32_t> &elements) {
      return std::string_view(reinterpret_cast<const char *>(elements.data()),
                              elements.size() * sizeof(int32_t));
    };
    permute(DataType::i32, shape, order, bytesOf(values),
            reinterpret_cast<char *>(there.data()));
    permute(DataType::i32, inFile.shapeOf(shape), inverse(order),
            bytesOf(there), reinterpret_cast<char *>(back.data()));
    EXPECT_EQ(back, values);
  }
}

TEST(Permute, OrdersOfDimensions) {
  EXPECT_TRUE(isOrderOf({}, 3));
  EXPECT_TRUE(isOrderOf({2, 0, 1}, 3));
  EXPECT_FALSE(isOrderOf({1, 0}, 3));
  EXPECT_FALSE(isOrderOf({0, 0, 1}, 3));
  EXPECT_FALSE(isOrderOf({-1, 0, 1}, 3));
  EXPECT_EQ(inverse({2, 0, 1}), (std::vector<int64_t>{1, 2, 0}));
}
