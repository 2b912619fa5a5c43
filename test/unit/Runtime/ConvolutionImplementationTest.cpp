//===- ConvolutionImplementationTest.cpp - what the library chooses -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/Convolution.h"

#include <gtest/gtest.h>

using namespace veeline;
using artifact::Convolution;
using artifact::ConvolutionKind;

/// Four square images, padded so that a window of an odd size with stride 1
/// gives as many elements.
static Convolution make(bool channelsLast, int64_t groups, int64_t inputs,
                        int64_t outputs, int64_t size, int64_t kernel) {
  Convolution c;
  c.batch = 4;
  c.groups = groups;
  c.inputs = inputs;
  c.outputs = outputs;
  c.xSizes = c.ySizes = {size, size};
  c.wSizes = {kernel, kernel};
  c.strides = c.dilations = {1, 1};
  c.padding = {kernel / 2, kernel / 2};
  auto arrange = [&](int64_t channels) {
    int64_t all = groups * channels, area = size * size;
    return channelsLast
               ? std::vector<int64_t>{area * all, channels, 1, size * all, all}
               : std::vector<int64_t>{area * all, channels * area, area, size,
                                      1};
  };
  c.xStrides = arrange(inputs);
  c.yStrides = arrange(outputs);
  int64_t all = groups * outputs;
  c.wStrides = {outputs, 1, all, kernel * inputs * all, inputs * all};
  return c;
}

static std::string implementationOf(const Convolution &convolution) {
  auto prepared = library::prepareConvolution(convolution);
  return prepared.ok() ? (*prepared)->implementation() : prepared.message();
}

static bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

static bool isCompiled(const std::string &name) {
  return (contains(name, "jit") || contains(name, "br")) &&
         !contains(name, "gemm") && !contains(name, "windows");
}

TEST(ConvolutionImplementation, IsCompiledForTheShape) {
  for (bool channelsLast : {true, false})
    for (ConvolutionKind kind :
         {ConvolutionKind::forward, ConvolutionKind::backwardData,
          ConvolutionKind::backwardWeights}) {
      Convolution dense = make(channelsLast, 1, 64, 64, 28, 3);
      Convolution depthwise = make(channelsLast, 96, 1, 1, 28, 3);
      dense.kind = depthwise.kind = kind;
      EXPECT_TRUE(isCompiled(implementationOf(dense)))
          << implementationOf(dense);
      EXPECT_TRUE(isCompiled(implementationOf(depthwise)))
          << implementationOf(depthwise);
    }
}

/// A copy of weights of 9 MiB in each call would be most of the work.
TEST(ConvolutionImplementation, LargeWeightsStayWhereTheyAre) {
  Convolution large = make(/*channelsLast=*/true, 1, 512, 512, 7, 3);
  EXPECT_TRUE(contains(implementationOf(large), "windows:"))
      << implementationOf(large);
  auto prepared = library::prepareConvolution(large);
  ASSERT_TRUE(prepared.ok());
  EXPECT_LT((*prepared)->scratchBytes(), 512 * 512 * 9 * 4);
  large.kind = ConvolutionKind::backwardData;
  EXPECT_TRUE(contains(implementationOf(large), "windows:"));
}

/// In data with channels first a 1x1 convolution is a matrix product of every
/// sample as it stands.
TEST(ConvolutionImplementation, PointwiseWithChannelsFirstCopiesNoData) {
  Convolution pointwise = make(/*channelsLast=*/false, 1, 64, 256, 56, 1);
  auto prepared = library::prepareConvolution(pointwise);
  ASSERT_TRUE(prepared.ok());
  EXPECT_LT((*prepared)->scratchBytes(), 4 * 64 * 56 * 56 * 4);
}

/// The library cannot be told what is behind the last window.
TEST(ConvolutionImplementation, RefusalNamesTheSizes) {
  Convolution tail = make(/*channelsLast=*/true, 1, 16, 16, 28, 3);
  tail.ySizes = {4, 4};
  EXPECT_EQ(implementationOf(tail),
            "oneDNN cannot convolve 4x16x28x28 with 16x16x3x3 to 4x16x4x4: "
            "could not create a descriptor for a dilated convolution forward "
            "propagation primitive");
}
