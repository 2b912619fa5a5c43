//===- LayoutSensitiveTest.cpp - a stand-in that tells layouts apart ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comparisons with the layout-sensitive library prove something only if that
// library does give other bits for other layouts, and no other values.
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/Convolution.h"
#include "veeline/Library/Gemm.h"

#include <gtest/gtest.h>

using namespace veeline;
using artifact::ConvolutionKind;
using Values = std::vector<float>;

static float valueOf(int64_t i) {
  return static_cast<float>(i * 7919 % 2003) / 1000.0f - 1.0f;
}

static constexpr int64_t channels = 7, size = 9, area = size * size;

/// A square image, channels first or last.
static Values makeImage(bool channelsLast, int64_t seed) {
  Values image(channels * area);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < area; ++i)
      image[static_cast<size_t>(channelsLast ? i * channels + c
                                             : c * area + i)] =
          valueOf(c * area + i + seed);
  return image;
}

/// The result of a convolution of images in that order, channels first.
static Values convolve(ConvolutionKind kind, int64_t kernel,
                       bool channelsLast) {
  artifact::Convolution c;
  c.kind = kind;
  c.batch = c.groups = 1;
  c.inputs = c.outputs = channels;
  c.xSizes = c.ySizes = {size, size};
  c.wSizes = {kernel, kernel};
  c.strides = c.dilations = {1, 1};
  c.padding = {kernel / 2, kernel / 2};
  c.xStrides = c.yStrides =
      channelsLast ? std::vector<int64_t>{channels * area, channels, 1,
                                          size * channels, channels}
                   : std::vector<int64_t>{channels * area, channels * area,
                                          area, size, 1};
  int64_t window = kernel * kernel;
  c.wStrides = {channels * channels * window, channels * window, window, kernel,
                1};
  Values x = makeImage(channelsLast, 0), y = makeImage(channelsLast, 5), w;
  for (int64_t i = 0; i < channels * channels * window; ++i)
    w.push_back(valueOf(i + 99));
  auto call = library::prepareConvolution(c);
  bool isForward = kind == ConvolutionKind::forward,
       isOfX = kind == ConvolutionKind::backwardData;
  Values &result = isForward ? y : isOfX ? x : w;
  EXPECT_TRUE((*call)
                  ->run(isOfX ? y.data() : x.data(),
                        isForward || isOfX ? w.data() : y.data(), result.data(),
                        nullptr)
                  .ok());
  if (!channelsLast || !(isForward || isOfX))
    return result;
  Values byChannel(result.size());
  for (int64_t i = 0; i < area * channels; ++i)
    byChannel[static_cast<size_t>(i % channels * area + i / channels)] =
        result[static_cast<size_t>(i)];
  return byChannel;
}

static void expectSimilar(const Values &a, const Values &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-4) << i;
  EXPECT_NE(a, b);
}

TEST(LayoutSensitive, ConvolutionsOfAnotherLayoutHaveOtherBits) {
  for (ConvolutionKind kind :
       {ConvolutionKind::forward, ConvolutionKind::backwardData,
        ConvolutionKind::backwardWeights})
    for (int64_t kernel : {1, 3}) {
      expectSimilar(convolve(kind, kernel, true),
                    convolve(kind, kernel, false));
      EXPECT_EQ(convolve(kind, kernel, true), convolve(kind, kernel, true));
    }
}

/// The product of two matrices, the second of which is by rows or by columns.
static Values multiply(bool isTransposed) {
  constexpr int64_t m = 5, n = 6, k = 40;
  artifact::Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.aStrides = {k, 1};
  gemm.bStrides =
      isTransposed ? std::vector<int64_t>{1, k} : std::vector<int64_t>{n, 1};
  gemm.cStrides = {n, 1};
  Values a(m * k), b(k * n), c(m * n);
  for (int64_t i = 0; i < m * k; ++i)
    a[static_cast<size_t>(i)] = valueOf(i);
  for (int64_t i = 0; i < k * n; ++i)
    b[static_cast<size_t>(isTransposed ? i % n * k + i / n : i)] =
        valueOf(i + 7);
  auto call = library::prepareGemm(gemm);
  EXPECT_TRUE((*call)->run(a.data(), b.data(), c.data(), nullptr).ok());
  return c;
}

TEST(LayoutSensitive, ProductsOfAnotherLayoutHaveOtherBits) {
  expectSimilar(multiply(true), multiply(false));
}
