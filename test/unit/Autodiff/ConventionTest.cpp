//===- ConventionTest.cpp - derivatives where there is none ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests what docs/differentiation.md says of ties and kinks, where differences
// prove nothing, and of sums in small floats.
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"
#include "gtest/gtest.h"

using namespace veeline::test;
using Numbers = std::vector<std::vector<double>>;

namespace {

Numbers getGradients(const std::string &name, const Numbers &arguments) {
  GradientCheck *file = getFile(INPUTS "/conventions.mlir");
  return file ? file->getGradients(name, arguments) : Numbers();
}

TEST(Conventions, ElementwiseMaximumSharesTies) {
  Numbers expected = {{0.0, 0.5, 1.0}, {1.0, 0.5, 0.0}};
  EXPECT_EQ(getGradients("maximumf", {{1, 2, 3}, {2, 2, 2}}), expected);
  EXPECT_EQ(getGradients("maxnumf", {{1, 2, 3}, {2, 2, 2}}), expected);
}

TEST(Conventions, ElementwiseMinimumSharesTies) {
  Numbers expected = {{1.0, 0.5, 0.0}, {0.0, 0.5, 1.0}};
  EXPECT_EQ(getGradients("minimumf", {{1, 2, 3}, {2, 2, 2}}), expected);
  EXPECT_EQ(getGradients("minnumf", {{1, 2, 3}, {2, 2, 2}}), expected);
}

TEST(Conventions, ReluIsHalfAtZero) {
  EXPECT_EQ(getGradients("relu", {{-1, 0, 1}}), Numbers({{0.0, 0.5, 1.0}}));
}

TEST(Conventions, ReducedMaximumSharesTies) {
  double third = 1.0 / 3.0;
  EXPECT_EQ(getGradients("reduce_max", {{2, 1, 2, 2, 1, 5, 4, 3}}),
            Numbers({{third, 0.0, third, third, 0.0, 1.0, 0.0, 0.0}}));
}

TEST(Conventions, ReducedMinimumSharesTies) {
  EXPECT_EQ(getGradients("reduce_min", {{2, 1, 1, 2, 1, 5, 4, 3}}),
            Numbers({{0.0, 0.5, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0}}));
}

TEST(Conventions, InitTakesPartInTies) {
  EXPECT_EQ(getGradients("reduce_max_init", {{2, 1, 0, 3}, {2, 1}}),
            Numbers({{0.5, 0.0, 0.0, 1.0}, {0.5, 0.0}}));
}

/// The first window has ties at all four of its elements, the second one at
/// two of them.
TEST(Conventions, LaterElementsOfAWindowTakeHalfOfATie) {
  Numbers expected = {{0.125, 0.125, 0.5, 0.0, 0.25, 0.5, 0.0, 0.5}};
  EXPECT_EQ(getGradients("window_max", {{3, 3, 5, 4, 3, 3, 4, 5}}), expected);
  EXPECT_EQ(getGradients("window_min", {{3, 3, 1, 4, 3, 3, 4, 1}}), expected);
}

/// Without a zero, with one, with two; an init that is one of them.
TEST(Conventions, ProductsWithZeros) {
  EXPECT_EQ(
      getGradients("reduce_product", {{2, 4, 8, 2, 0, 8, 0, 0, 8}, {1, 2, 1}}),
      Numbers({{32, 16, 8, 0, 32, 0, 0, 0, 0}, {64, 0, 0}}));
  EXPECT_EQ(
      getGradients("reduce_product", {{2, 4, 8, 2, 0, 8, 1, 1, 1}, {0, 0, 3}}),
      Numbers({{0, 0, 0, 0, 0, 0, 3, 3, 3}, {64, 0, 1}}));
}

TEST(Conventions, CopiedSignIsFlatAtZero) {
  EXPECT_EQ(getGradients("copysign", {{-2, 0, 3}}),
            Numbers({{1.0, 0.0, -1.0}}));
}

/// No derivative of the other branch is computed.
TEST(Conventions, OnlyTheBranchThatIsTakenHasADerivative) {
  EXPECT_EQ(getGradients("branch", {{0, 3}}), Numbers({{0.0, 6.0}}));
  EXPECT_EQ(getGradients("branch", {{1, 2}}), Numbers({{-1.0, -0.25}}));
}

TEST(Conventions, AbsIsFlatAtZero) {
  EXPECT_EQ(getGradients("absf", {{-2, 0, 3}}), Numbers({{-1.0, 0.0, 1.0}}));
}

TEST(Conventions, PowersAtZero) {
  EXPECT_EQ(getGradients("powf", {{0, 0, 2}, {2, 0, 0}})[0],
            std::vector<double>({0.0, 0.0, 0.0}));
  EXPECT_EQ(getGradients("powf", {{0, 0, 1}, {2, 1, 5}})[1],
            std::vector<double>({0.0, 0.0, 0.0}));
  EXPECT_EQ(getGradients("fpowi", {{0, 3, 2}, {0, 2, 0}})[0],
            std::vector<double>({0.0, 6.0, 0.0}));
}

/// What a mask hides has no gradient, and no gradient is NaN.
TEST(Conventions, MaskedSoftmaxHasNoNaN) {
  Numbers gradients = getGradients("masked_softmax", {{1, 2, 3, 4}});
  ASSERT_EQ(gradients.size(), 1u);
  ASSERT_EQ(gradients[0].size(), 4u);
  EXPECT_EQ(gradients[0][0], 0.0);
  EXPECT_EQ(gradients[0][1], 0.0);
  EXPECT_NEAR(gradients[0][2], 0.0, 1e-15);
  EXPECT_NEAR(gradients[0][3], 0.0, 1e-15);
}

/// The sum is made in f32: in bf16 the sum of 1000 ones would stop at 256.
TEST(Conventions, SmallFloatsAreSummedInF32) {
  EXPECT_EQ(getGradients("sum_bf16", {{3}}), Numbers({{1000.0}}));
  EXPECT_EQ(getGradients("sum_f16", {{3}}), Numbers({{4096.0}}));
}

TEST(Conventions, SmallFloatProductsAreSummedInF32) {
  Numbers gradients =
      getGradients("matmul_bf16", {std::vector<double>(2, 1.0),
                                   std::vector<double>(1024, 1.0)});
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients[0], std::vector<double>(2, 512.0));
}

} // namespace
