//===- HostCodeTest.cpp - compiled functions compute what they say --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace veeline;
using namespace veeline::test;

namespace {

template <typename T = float>
std::vector<T> randomValues(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> distribution(-1, 1);
  std::vector<T> values(count);
  for (T &value : values)
    value = distribution(random);
  return values;
}

template <typename T>
bool sameBits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() &&
         !std::memcmp(a.data(), b.data(), a.size() * sizeof(T));
}

/// Sums as a reduction over the innermost dimension does.
template <typename T, int lanes> T laneSum(const T *values, int64_t count) {
  T partial[lanes];
  std::fill_n(partial, lanes, T(-0.0));
  for (int64_t i = 0; i < count; ++i)
    partial[i % lanes] += values[i];
  for (int width = lanes / 2; width; width /= 2)
    for (int i = 0; i < width; ++i)
      partial[i] += partial[i + width];
  return partial[0];
}

const char *maps = R"(
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
)";

TEST(HostCode, ElementwiseWithBroadcastAndTail) {
  CompiledModule module(std::string(maps) + R"(
func.func @f(%x: tensor<5x37xf32>, %b: tensor<37xf32>) -> tensor<5x37xf32> {
  %e = tensor.empty() : tensor<5x37xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<5x37xf32>, tensor<37xf32>) outs(%e : tensor<5x37xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<5x37xf32>
  return %y : tensor<5x37xf32>
})");
  auto x = randomValues(5 * 37), b = randomValues(37, 2);
  std::vector<float> y(5 * 37 + 1, 42.0f), expected = y;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 37; ++j) {
      volatile float product = x[i * 37 + j] * x[i * 37 + j];
      expected[i * 37 + j] = product + b[j];
    }
  module.call("f", {x.data(), b.data(), y.data()});
  // The element behind the end is untouched, and nothing was contracted.
  EXPECT_TRUE(sameBits(y, expected));
  EXPECT_EQ(module.workspaceBytes("f"), 0u);
}

TEST(HostCode, RowSumKeepsSixteenLanes) {
  CompiledModule module(std::string(maps) + R"(
func.func @f(%x: tensor<3x41xf32>) -> tensor<3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.reduce { arith.addf } ins(%x : tensor<3x41xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  return %y : tensor<3xf32>
}
func.func @d(%x: tensor<3x41xf64>) -> tensor<3xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %y = linalg.reduce { arith.addf } ins(%x : tensor<3x41xf64>) outs(%f : tensor<3xf64>) dimensions = [1]
  return %y : tensor<3xf64>
})");
  auto x = randomValues(3 * 41);
  std::vector<float> y(3), expected(3);
  module.call("f", {x.data(), y.data()});
  auto xd = randomValues<double>(3 * 41);
  std::vector<double> yd(3), expectedD(3);
  module.call("d", {xd.data(), yd.data()});
  for (int i = 0; i < 3; ++i) {
    expected[i] = 0.0f + laneSum<float, 16>(&x[i * 41], 41);
    expectedD[i] = 0.0 + laneSum<double, 8>(&xd[i * 41], 41);
  }
  EXPECT_TRUE(sameBits(y, expected));
  EXPECT_TRUE(sameBits(yd, expectedD));
}

TEST(HostCode, ColumnSumRunsInOrderOfRows) {
  CompiledModule module(std::string(maps) + R"(
func.func @f(%x: tensor<7x37xf32>) -> tensor<37xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  %y = linalg.reduce { arith.addf } ins(%x : tensor<7x37xf32>) outs(%f : tensor<37xf32>) dimensions = [0]
  return %y : tensor<37xf32>
})");
  auto x = randomValues(7 * 37);
  std::vector<float> y(37), expected(37, 0.0f);
  module.call("f", {x.data(), y.data()});
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 37; ++j)
      expected[j] += x[i * 37 + j];
  EXPECT_TRUE(sameBits(y, expected));
}

TEST(HostCode, MaximumPropagatesNaN) {
  CompiledModule module(R"(
func.func @f(%x: tensor<3x20xf32>) -> tensor<3xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.reduce { arith.maximumf } ins(%x : tensor<3x20xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  return %y : tensor<3xf32>
})");
  auto x = randomValues(3 * 20);
  x[5] = 7.0f;
  x[20 + 18] = std::numeric_limits<float>::quiet_NaN();
  for (int j = 0; j < 20; ++j)
    x[40 + j] = -std::numeric_limits<float>::infinity();
  std::vector<float> y(3);
  module.call("f", {x.data(), y.data()});
  EXPECT_EQ(y[0], 7.0f);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], -std::numeric_limits<float>::infinity());
}

TEST(HostCode, TransposeAndDoubleMatmul) {
  CompiledModule module(R"(
func.func @t(%x: tensor<19x33xf32>) -> tensor<33x19xf32> {
  %e = tensor.empty() : tensor<33x19xf32>
  %y = linalg.transpose ins(%x : tensor<19x33xf32>) outs(%e : tensor<33x19xf32>) permutation = [1, 0]
  return %y : tensor<33x19xf32>
}
func.func @m(%a: tensor<5x7xf64>, %b: tensor<7x9xf64>) -> tensor<5x9xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<5x9xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<5x9xf64>) -> tensor<5x9xf64>
  %y = linalg.matmul ins(%a, %b : tensor<5x7xf64>, tensor<7x9xf64>) outs(%f : tensor<5x9xf64>) -> tensor<5x9xf64>
  return %y : tensor<5x9xf64>
})");
  auto x = randomValues(19 * 33);
  std::vector<float> y(x.size()), expected(x.size());
  module.call("t", {x.data(), y.data()});
  for (int i = 0; i < 19; ++i)
    for (int j = 0; j < 33; ++j)
      expected[j * 19 + i] = x[i * 33 + j];
  EXPECT_TRUE(sameBits(y, expected));

  auto a = randomValues<double>(35), b = randomValues<double>(63, 2);
  std::vector<double> c(45);
  module.call("m", {a.data(), b.data(), c.data()});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 9; ++j) {
      double sum = 0;
      for (int k = 0; k < 7; ++k)
        sum += a[i * 7 + k] * b[k * 9 + j];
      EXPECT_NEAR(c[i * 9 + j], sum, 1e-14);
    }
}

TEST(HostCode, ProductsGoToTheLibrary) {
  const char *source = R"(
func.func @f(%a: tensor<5x7xf32>, %b: tensor<9x7xf32>, %c: tensor<5x9xf32>) -> (tensor<5x9xf32>, tensor<5x9xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<5x9xf32>) -> tensor<5x9xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<5x7xf32>, tensor<9x7xf32>) outs(%f : tensor<5x9xf32>) -> tensor<5x9xf32>
  %w = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<5x7xf32>, tensor<9x7xf32>) outs(%c : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %y, %w : tensor<5x9xf32>, tensor<5x9xf32>
})";
  for (uint64_t scratch : {0, 1000}) {
    CompiledModule module(source, {.gemmScratchBytes = scratch});
    EXPECT_EQ(module.gemms().size(), 1u);
    auto a = randomValues(35), b = randomValues(63, 2), c = randomValues(45, 3);
    std::vector<float> y(45), w(45);
    module.call("f", {a.data(), b.data(), c.data(), y.data(), w.data()});
    for (int i = 0; i < 45; ++i) {
      float sum = 0;
      for (int k = 0; k < 7; ++k)
        sum += a[i / 9 * 7 + k] * b[i % 9 * 7 + k];
      EXPECT_EQ(y[i], sum);
      // An init that is not zero: the product, then the sum.
      EXPECT_EQ(w[i], c[i] + sum);
    }
  }
}

TEST(HostCode, ParameterGradientsAccumulate) {
  CompiledModule module(R"(
func.func @f(%x: tensor<4x6xf32>, %dy: tensor<4x3xf32>)
    -> (tensor<6x3xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<3xf32> {pipe.role = #pipe.role<param_grad 2>}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<6x3xf32>) -> tensor<6x3xf32>
  %dw = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %dy : tensor<4x6xf32>, tensor<4x3xf32>) outs(%f : tensor<6x3xf32>) -> tensor<6x3xf32>
  %eb = tensor.empty() : tensor<3xf32>
  %fb = linalg.fill ins(%z : f32) outs(%eb : tensor<3xf32>) -> tensor<3xf32>
  %db = linalg.reduce { arith.addf } ins(%dy : tensor<4x3xf32>) outs(%fb : tensor<3xf32>) dimensions = [0]
  return %dw, %db : tensor<6x3xf32>, tensor<3xf32>
})");
  auto x = randomValues(24), dy = randomValues(12, 2);
  auto dw = randomValues(18, 3), db = randomValues(3, 4);
  auto oldW = dw, oldB = db;
  module.call("f", {x.data(), dy.data(), dw.data(), db.data()});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) {
      float sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += x[k * 6 + i] * dy[k * 3 + j];
      EXPECT_EQ(dw[i * 3 + j], oldW[i * 3 + j] + sum);
    }
  for (int j = 0; j < 3; ++j) {
    float sum = 0;
    for (int k = 0; k < 4; ++k)
      sum += dy[k * 3 + j];
    EXPECT_EQ(db[j], oldB[j] + sum);
  }
}

TEST(HostCode, ConstantsSlicesAndScatters) {
  CompiledModule module(R"(
func.func @constant(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = arith.mulf %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @slice(%x: tensor<8x4xf32>, %start: tensor<i32>) -> tensor<3x4xf32> {
  %i = tensor.extract %start[] : tensor<i32>
  %k = arith.index_cast %i : i32 to index
  %s = tensor.extract_slice %x[%k, 0] [3, 4] [1, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.negf ins(%s : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
func.func @scatter(%rows: tensor<5xi32>, %x: tensor<5x6xf32>) -> (tensor<4x6xf32> {pipe.role = #pipe.role<param_grad 0>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %f) -> tensor<4x6xf32> {
    %row = tensor.extract %rows[%i] : tensor<5xi32>
    %r = arith.index_cast %row : i32 to index
    %1 = scf.for %j = %c0 to %c6 step %c1 iter_args(%b = %a) -> tensor<4x6xf32> {
      %new = tensor.extract %x[%i, %j] : tensor<5x6xf32>
      %old = tensor.extract %b[%r, %j] : tensor<4x6xf32>
      %sum = arith.addf %old, %new : f32
      %next = tensor.insert %sum into %b[%r, %j] : tensor<4x6xf32>
      scf.yield %next : tensor<4x6xf32>
    }
    scf.yield %1 : tensor<4x6xf32>
  }
  return %0 : tensor<4x6xf32>
})");
  auto x = randomValues(6);
  std::vector<float> y(6);
  module.call("constant", {x.data(), y.data()});
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(y[i], x[i] * (i + 1));

  auto table = randomValues(32);
  int32_t start = 2;
  std::vector<float> rows(12);
  module.call("slice", {table.data(), &start, rows.data()});
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(rows[i], -table[8 + i]);

  // A row that occurs twice gets both gradients.
  std::vector<int32_t> targets = {3, 0, 3, 1, 0};
  auto gradients = randomValues(30), sums = randomValues(24, 2);
  std::vector<float> fresh(24), expected = sums;
  module.call("scatter", {targets.data(), gradients.data(), sums.data()});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 6; ++j)
      fresh[targets[i] * 6 + j] += gradients[i * 6 + j];
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(sums[i], expected[i] + fresh[i]);
}

} // namespace
