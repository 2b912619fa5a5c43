//===- ConvolutionTest.cpp - convolutions of all shapes and layouts -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"
#include "veeline/Base/HalfFloats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>

using namespace veeline;
using namespace veeline::cts;
using artifact::ComputeType;
using artifact::Convolution;
using artifact::ConvolutionKind;
using artifact::DataType;

static constexpr int64_t operandBytes = 1 << 18;
static constexpr int64_t scratchBytes = 1 << 21;

/// The operands lie one after the other in the arena, then the scratch.
static void convolve(veeline_rank *rank, char *arena, const void *const *) {
  veeline_convolution(rank, 0, arena, arena + operandBytes,
                      arena + 2 * operandBytes, arena + 3 * operandBytes);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The bits of `value` in `type`, of 16 bits: the nearest, ties to even.
static uint16_t toHalf(DataType type, float value) {
  if (type == DataType::f16)
    return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  if (std::isnan(value))
    return 0x7fff;
  auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float fromHalf(DataType type, uint16_t bits) {
  return type == DataType::f16 ? fromF16(bits) : fromBf16(bits);
}

/// The elements of an operand, and what they are rounded to.
static std::vector<char> toBytes(DataType type, std::vector<float> &values) {
  std::vector<char> bytes(values.size() * artifact::byteSize(type));
  if (type == DataType::f32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = toHalf(type, values[i]);
    std::memcpy(&bytes[2 * i], &half, sizeof(half));
    values[i] = fromHalf(type, half);
  }
  return bytes;
}

static std::vector<float> fromBytes(DataType type,
                                    const std::vector<char> &bytes) {
  std::vector<float> values(bytes.size() / artifact::byteSize(type));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    if (type == DataType::f32)
      std::memcpy(&values[i], &bytes[4 * i], sizeof(float));
    else
      std::memcpy(&half, &bytes[2 * i], sizeof(half));
    if (type != DataType::f32)
      values[i] = fromHalf(type, half);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

using Index = std::vector<int64_t>;

/// Counts through all indices below `limits`, the last one first.
static bool advance(Index &index, const Index &limits) {
  for (size_t i = index.size(); i-- > 0; index[i] = 0)
    if (++index[i] < limits[i])
      return true;
  return false;
}

static Index join(std::initializer_list<int64_t> first, const Index &second) {
  Index joined(first);
  joined.insert(joined.end(), second.begin(), second.end());
  return joined;
}

static int64_t place(const Index &index, const Index &strides) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i)
    sum += index[i] * strides[i];
  return sum;
}

/// Zeros in the elements of the result, NaN in everything else.
static std::vector<double> makeResult(const Convolution &c, size_t count) {
  std::vector<double> result(count, std::numeric_limits<double>::quiet_NaN());
  Index limits, strides;
  switch (c.kind) {
  case ConvolutionKind::forward:
    limits = join({c.batch, c.groups, c.outputs}, c.ySizes);
    strides = c.yStrides;
    break;
  case ConvolutionKind::backwardData:
    limits = join({c.batch, c.groups, c.inputs}, c.xSizes);
    strides = c.xStrides;
    break;
  case ConvolutionKind::backwardWeights:
    limits = join({c.groups, c.outputs, c.inputs}, c.wSizes);
    strides = c.wStrides;
    break;
  }
  Index at(limits.size());
  do
    result[static_cast<size_t>(place(at, strides))] = 0;
  while (advance(at, limits));
  return result;
}

/// The loops of the definition, over everything.
static std::vector<double> reference(const Convolution &c,
                                     const std::vector<float> &a,
                                     const std::vector<float> &b) {
  std::vector<double> result = makeResult(c, a.size());
  size_t rank = c.xSizes.size();
  Index limits = join({c.batch, c.groups, c.outputs, c.inputs}, c.ySizes);
  limits.insert(limits.end(), c.wSizes.begin(), c.wSizes.end());
  Index at(limits.size()), x(3 + rank), w(3 + rank), y(3 + rank);
  do {
    std::tie(x[0], x[1], x[2]) = std::tie(at[0], at[1], at[3]);
    std::tie(w[0], w[1], w[2]) = std::tie(at[1], at[2], at[3]);
    std::tie(y[0], y[1], y[2]) = std::tie(at[0], at[1], at[2]);
    bool isInside = true;
    for (size_t i = 0; i < rank; ++i) {
      y[3 + i] = at[4 + i];
      w[3 + i] = at[4 + rank + i];
      x[3 + i] =
          y[3 + i] * c.strides[i] + w[3 + i] * c.dilations[i] - c.padding[i];
      isInside &= x[3 + i] >= 0 && x[3 + i] < c.xSizes[i];
    }
    if (!isInside)
      continue;
    auto inX = static_cast<size_t>(place(x, c.xStrides));
    auto inW = static_cast<size_t>(place(w, c.wStrides));
    auto inY = static_cast<size_t>(place(y, c.yStrides));
    switch (c.kind) {
    case ConvolutionKind::forward:
      result[inY] += double(a[inX]) * b[inW];
      break;
    case ConvolutionKind::backwardData:
      result[inX] += double(a[inY]) * b[inW];
      break;
    case ConvolutionKind::backwardWeights:
      result[inW] += double(a[inX]) * b[inY];
      break;
    }
  } while (advance(at, limits));
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Strides of `extents` where `order` lists the dimensions from the outermost
/// to the innermost, with `gap` elements behind each run of the innermost one.
static Index arrange(const Index &extents, const std::vector<size_t> &order,
                     int64_t gap) {
  Index strides(extents.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride = stride * extents[order[i]] + (i + 1 == order.size() ? gap : 0);
  }
  return strides;
}

/// Orders of (sample, group, channel, spatial...) whose channels have one
/// stride.
static std::vector<size_t> dataOrder(size_t rank, bool channelsLast) {
  std::vector<size_t> order{0, 1, 2};
  for (size_t i = 0; i < rank; ++i)
    order.push_back(3 + i);
  if (channelsLast)
    std::rotate(order.begin() + 1, order.begin() + 3, order.end());
  return order;
}

struct Shape {
  int64_t batch, groups, inputs, outputs;
  Index x, w, strides, dilations, padding, paddingAfter;
};

/// How operands lie in memory.
struct Layouts {
  bool channelsLast;
  std::vector<size_t> w; ///< Of (group, output, input, spatial...).
  int64_t gap = 0;       ///< In x and y.
};

static Convolution make(const Shape &shape, const Layouts &layouts) {
  Convolution c;
  c.batch = shape.batch;
  c.groups = shape.groups;
  c.inputs = shape.inputs;
  c.outputs = shape.outputs;
  c.xSizes = shape.x;
  c.wSizes = shape.w;
  c.strides = shape.strides;
  c.dilations = shape.dilations;
  c.padding = shape.padding;
  size_t rank = shape.x.size();
  for (size_t i = 0; i < rank; ++i)
    c.ySizes.push_back((shape.x[i] + shape.padding[i] + shape.paddingAfter[i] -
                        (shape.w[i] - 1) * shape.dilations[i] - 1) /
                           shape.strides[i] +
                       1);
  std::vector<size_t> order = dataOrder(rank, layouts.channelsLast);
  c.xStrides = arrange(join({c.batch, c.groups, c.inputs}, c.xSizes), order, 0);
  c.yStrides =
      arrange(join({c.batch, c.groups, c.outputs}, c.ySizes), order, 0);
  // A slice: every sample is longer than it looks.
  c.xStrides[0] += layouts.gap;
  c.yStrides[0] += layouts.gap;
  c.wStrides =
      arrange(join({c.groups, c.outputs, c.inputs}, c.wSizes), layouts.w, 0);
  c.scratchBytes = scratchBytes;
  return c;
}

static std::string print(const Convolution &c) {
  std::string text =
      std::to_string(static_cast<int>(c.kind)) + " n " +
      std::to_string(c.batch) + " g " + std::to_string(c.groups) + " c " +
      std::to_string(c.inputs) + " f " + std::to_string(c.outputs);
  for (size_t i = 0; i < c.xSizes.size(); ++i)
    text += ", " + std::to_string(c.xSizes[i]) + "+" +
            std::to_string(c.padding[i]) + " by " +
            std::to_string(c.wSizes[i]) + " to " + std::to_string(c.ySizes[i]) +
            " stride " + std::to_string(c.strides[i]) + " dilation " +
            std::to_string(c.dilations[i]);
  return text + (c.xStrides[2] == 1 ? ", channels last, " : ", ") +
         std::string(artifact::name(c.type)) +
         (c.compute == ComputeType::tf32 ? " in tf32" : "");
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Random values, and a result full of NaN: every element must be written, and
/// nothing but elements.
static void runInto(const Convolution &convolution, std::vector<float> &a,
                    std::vector<float> &b, std::vector<float> &c) {
  Fixture fixture({convolve}, 3 * operandBytes + scratchBytes);
  fixture.rank(0).convolutions = {convolution};
  backend().addLibrary(fixture.rank(0));
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Executor &executor = fixture.executor();
  int64_t at = 0;
  for (std::vector<float> *operand : {&a, &b, &c}) {
    operand->resize(operandBytes / artifact::byteSize(convolution.type));
    for (float &value : *operand)
      value = operand == &c ? std::numeric_limits<float>::quiet_NaN()
                            : uniform(random);
    std::vector<char> bytes = toBytes(convolution.type, *operand);
    ASSERT_TRUE(executor.write(0, at, bytes.data(), operandBytes).ok());
    at += operandBytes;
  }
  // What a scratch holds before a call is nobody's business.
  std::vector<float> garbage(scratchBytes / sizeof(float),
                             std::numeric_limits<float>::quiet_NaN());
  ASSERT_TRUE(
      executor.write(0, 3 * operandBytes, garbage.data(), scratchBytes).ok());
  Status status = fixture.step();
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<char> result(operandBytes);
  ASSERT_TRUE(
      executor.read(0, 2 * operandBytes, result.data(), operandBytes).ok());
  c = fromBytes(convolution.type, result);
}

/// How far a result may be from that of exact sums of what was read: half of
/// its last place, in tf32 the roundings of two factors, each of 2^-11 of it,
/// and the order of sums in f32.
static double toleranceOf(const Convolution &c, double expected,
                          double sumOfMagnitudes) {
  constexpr double ofSums = 1e-3;
  if (c.compute == ComputeType::tf32)
    return sumOfMagnitudes * 0x1p-10 + ofSums;
  double ofRounding = c.type == DataType::bf16  ? 0x1p-8
                      : c.type == DataType::f16 ? 0x1p-11
                                                : 0;
  return std::abs(expected) * ofRounding + ofSums;
}

static bool isSame(float value, double expected, double tolerance) {
  return std::isnan(expected) ? std::isnan(value)
                              : std::abs(double(value) - expected) < tolerance;
}

static std::vector<float> magnitudes(std::vector<float> values) {
  for (float &value : values)
    value = std::abs(value);
  return values;
}

static void checkOfOneType(Convolution convolution) {
  for (ConvolutionKind kind :
       {ConvolutionKind::forward, ConvolutionKind::backwardData,
        ConvolutionKind::backwardWeights}) {
    convolution.kind = kind;
    SCOPED_TRACE(print(convolution));
    if (std::string reason = backend().reasonAgainst(convolution);
        !reason.empty()) {
      std::printf("not computed: %s\n", reason.c_str());
      continue;
    }
    std::vector<float> a, b, c;
    ASSERT_NO_FATAL_FAILURE(runInto(convolution, a, b, c));
    std::vector<double> expected = reference(convolution, a, b);
    bool isTf32 = convolution.compute == ComputeType::tf32;
    std::vector<double> sums =
        isTf32 ? reference(convolution, magnitudes(a), magnitudes(b))
               : expected;
    for (size_t i = 0; i < c.size(); ++i)
      if (!isSame(c[i], expected[i],
                  toleranceOf(convolution, expected[i], sums[i])))
        FAIL() << "element " << i << " is " << c[i] << ", not " << expected[i];
  }
}

/// In f32, and in the other types in turn.
static void check(Convolution convolution, size_t turn = 0) {
  auto types = backend().convolutionTypes();
  std::vector<size_t> chosen{0};
  if (types.size() > 1)
    chosen.push_back(1 + turn % (types.size() - 1));
  for (size_t i : chosen) {
    convolution.type = types[i].first;
    convolution.compute = types[i].second;
    ASSERT_NO_FATAL_FAILURE(checkOfOneType(convolution));
  }
}

/// w as (window..., input, output), (output, window..., input), (output, input,
/// window...), each with the group outside; then with it inside.
static std::vector<std::vector<size_t>> weightOrders(size_t rank) {
  std::vector<std::vector<size_t>> orders(4);
  orders[1] = {0, 1};
  orders[2] = {0, 1, 2};
  for (size_t i = 0; i < rank; ++i)
    for (auto &order : orders)
      order.push_back(3 + i);
  orders[0].insert(orders[0].end(), {0, 2, 1});
  orders[1].push_back(2);
  orders[3].insert(orders[3].end(), {2, 1, 0});
  return orders;
}

static void checkAllLayouts(const Shape &shape) {
  size_t turn = 0;
  for (bool channelsLast : {true, false})
    for (const std::vector<size_t> &w : weightOrders(shape.x.size()))
      ASSERT_NO_FATAL_FAILURE(check(make(shape, {channelsLast, w}), turn++));
}

TEST(Convolution, Dense) {
  checkAllLayouts(
      {2, 1, 16, 32, {9, 10}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
}

TEST(Convolution, FewChannels) {
  checkAllLayouts({2, 1, 3, 5, {9, 8}, {3, 2}, {1, 1}, {1, 1}, {1, 0}, {1, 1}});
  checkAllLayouts({1, 1, 1, 1, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
}

TEST(Convolution, Pointwise) {
  checkAllLayouts(
      {2, 1, 24, 20, {5, 7}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
  checkAllLayouts(
      {2, 1, 24, 20, {5, 7}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}});
}

TEST(Convolution, StridesAndPadding) {
  checkAllLayouts(
      {2, 1, 17, 16, {11, 12}, {3, 5}, {2, 3}, {1, 1}, {1, 2}, {1, 0}});
}

/// The last row and column are read by no window, and the gradient there is
/// zero.
TEST(Convolution, StepsThatNoWindowReaches) {
  checkAllLayouts(
      {2, 1, 16, 16, {12, 12}, {3, 3}, {2, 4}, {1, 1}, {0, 0}, {0, 0}});
}

TEST(Convolution, Dilations) {
  checkAllLayouts(
      {1, 1, 16, 8, {13, 12}, {3, 2}, {1, 2}, {2, 3}, {2, 1}, {2, 1}});
}

TEST(Convolution, Depthwise) {
  checkAllLayouts(
      {2, 33, 1, 1, {8, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  checkAllLayouts(
      {2, 16, 1, 1, {8, 9}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}});
}

TEST(Convolution, DepthwiseWithMultiplier) {
  checkAllLayouts({2, 6, 1, 3, {8, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
}

TEST(Convolution, Groups) {
  checkAllLayouts({2, 4, 8, 4, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  checkAllLayouts(
      {1, 2, 16, 16, {7, 6}, {3, 1}, {2, 1}, {1, 1}, {1, 0}, {1, 0}});
}

TEST(Convolution, OneAndThreeDimensions) {
  checkAllLayouts({3, 1, 8, 4, {19}, {4}, {2}, {1}, {1}, {2}});
  checkAllLayouts({2, 5, 1, 1, {19}, {3}, {1}, {2}, {1}, {2}});
  checkAllLayouts({1,
                   1,
                   4,
                   6,
                   {5, 6, 4},
                   {2, 3, 2},
                   {1, 2, 1},
                   {1, 1, 1},
                   {1, 1, 0},
                   {0, 1, 1}});
}

/// Weights that are most of what there is.
TEST(Convolution, LargeWeights) {
  checkAllLayouts(
      {1, 1, 24, 40, {4, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  checkAllLayouts(
      {2, 1, 24, 40, {7, 6}, {3, 2}, {2, 3}, {1, 2}, {2, 1}, {0, 1}});
  checkAllLayouts(
      {2, 1, 40, 48, {2, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
  // As many elements of y as of x, most of them of padding alone.
  checkAllLayouts(
      {1, 1, 12, 40, {3, 3}, {1, 1}, {2, 2}, {1, 1}, {1, 1}, {1, 1}});
  checkAllLayouts({1, 1, 24, 40, {6}, {3}, {1}, {2}, {3}, {1}});
  checkAllLayouts({1,
                   1,
                   12,
                   40,
                   {3, 2, 3},
                   {2, 2, 2},
                   {1, 1, 2},
                   {1, 1, 1},
                   {1, 0, 1},
                   {0, 1, 0}});
}

TEST(Convolution, SamplesWithGaps) {
  Shape shape{3, 1, 16, 16, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  for (bool channelsLast : {true, false})
    ASSERT_NO_FATAL_FAILURE(
        check(make(shape, {channelsLast, weightOrders(2)[0], 40})));
}

TEST(Convolution, RandomShapes) {
  std::mt19937 random(11);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (size_t i = 0; i < 60; ++i) {
    Shape shape{draw(1, 3),  draw(0, 1) ? 1 : draw(2, 5),
                draw(1, 20), draw(1, 20),
                {},          {},
                {},          {},
                {},          {}};
    size_t rank = static_cast<size_t>(draw(1, 2));
    for (size_t d = 0; d < rank; ++d) {
      shape.w.push_back(draw(1, 4));
      shape.dilations.push_back(draw(1, 2));
      shape.strides.push_back(draw(1, 3));
      int64_t reach = (shape.w[d] - 1) * shape.dilations[d];
      shape.padding.push_back(draw(0, reach));
      shape.paddingAfter.push_back(draw(0, reach));
      shape.x.push_back(draw(reach + 1, reach + 9));
    }
    Layouts layouts{draw(0, 1) == 1,
                    weightOrders(rank)[static_cast<size_t>(draw(0, 3))],
                    draw(0, 1) * 7};
    ASSERT_NO_FATAL_FAILURE(check(make(shape, layouts), i));
  }
}

/// A machine may want more scratch than the one that compiled.
TEST(Convolution, WithoutPlannedScratch) {
  Convolution convolution =
      make({2, 1, 8, 16, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
           {false, weightOrders(2)[0]});
  convolution.scratchBytes = 0;
  check(convolution);
}

TEST(Convolution, SameBitsInEveryRun) {
  Shape shape{2, 1, 32, 48, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  Convolution convolution = make(shape, {true, weightOrders(2)[0]});
  for (ConvolutionKind kind :
       {ConvolutionKind::forward, ConvolutionKind::backwardData,
        ConvolutionKind::backwardWeights}) {
    convolution.kind = kind;
    std::vector<float> a, b, first, second;
    ASSERT_NO_FATAL_FAILURE(runInto(convolution, a, b, first));
    ASSERT_NO_FATAL_FAILURE(runInto(convolution, a, b, second));
    EXPECT_EQ(0, std::memcmp(first.data(), second.data(), operandBytes));
  }
}
