//===- ConvolutionProduct.cpp - convolutions as matrix products -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionProduct.h"
#include "Strides.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Library/Gemm.h"

#include <algorithm>
#include <cstring>

using namespace veeline;
using namespace veeline::library;
using artifact::ConvolutionKind;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The product of all sizes but the first `skipped`.
static int64_t count(const std::vector<int64_t> &sizes, size_t skipped = 0) {
  int64_t product = 1;
  for (size_t i = skipped; i < sizes.size(); ++i)
    product *= sizes[i];
  return product;
}

/// Whether strides (sample, group, channel, spatial...) are those of a dense
/// tensor with the channels last. Strides of dimensions with one element do not
/// matter.
static bool hasChannelsLast(int64_t batch, int64_t channels,
                            const std::vector<int64_t> &sizes,
                            const std::vector<int64_t> &strides) {
  if ((channels != 1 && strides[2] != 1) ||
      (batch != 1 && strides[0] != channels * count(sizes)))
    return false;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && strides[3 + i] != channels * count(sizes, i + 1))
      return false;
  return true;
}

/// Whether (window..., channel of x) is one dimension of w.
static bool hasWindowsAsRows(const artifact::Convolution &c) {
  int64_t step = c.wStrides[2];
  for (size_t i = 0; i < c.wSizes.size(); ++i)
    if (c.wSizes[i] != 1 &&
        c.wStrides[3 + i] != step * c.inputs * count(c.wSizes, i + 1))
      return false;
  return true;
}

static bool areAll(const std::vector<int64_t> &list, int64_t value) {
  return std::all_of(list.begin(), list.end(),
                     [&](int64_t element) { return element == value; });
}

/// Whether the matrix of windows is x itself.
static bool seesAll(const artifact::Convolution &c) {
  return areAll(c.wSizes, 1) && areAll(c.padding, 0) && areAll(c.strides, 1) &&
         c.xSizes == c.ySizes;
}

bool library::isProduct(const artifact::Convolution &c) {
  int64_t rows = c.batch * count(c.ySizes);
  int64_t columns = c.inputs * count(c.wSizes);
  // If the matrix is x itself, x and y are read as often as w. Otherwise x is
  // copied.
  int64_t others = seesAll(c) ? rows * (c.inputs + c.outputs) : rows * columns;
  return c.groups == 1 && others <= columns * c.outputs &&
         hasChannelsLast(c.batch, c.inputs, c.xSizes, c.xStrides) &&
         hasChannelsLast(c.batch, c.outputs, c.ySizes, c.yStrides) &&
         hasWindowsAsRows(c);
}

/// The product, with the matrix of windows in place of x.
static artifact::Gemm makeProduct(const artifact::Convolution &c) {
  int64_t rows = c.batch * count(c.ySizes);
  int64_t columns = c.inputs * count(c.wSizes);
  int64_t ofRow = c.wStrides[2], ofOutput = c.wStrides[1];
  artifact::Gemm gemm;
  switch (c.kind) {
  case ConvolutionKind::forward:
    gemm.m = rows;
    gemm.n = c.outputs;
    gemm.k = columns;
    gemm.aStrides = {columns, 1};
    gemm.bStrides = {ofRow, ofOutput};
    gemm.cStrides = {c.outputs, 1};
    break;
  case ConvolutionKind::backwardData:
    gemm.m = rows;
    gemm.n = columns;
    gemm.k = c.outputs;
    gemm.aStrides = {c.outputs, 1};
    gemm.bStrides = {ofOutput, ofRow};
    gemm.cStrides = {columns, 1};
    break;
  case ConvolutionKind::backwardWeights:
    gemm.m = columns;
    gemm.n = c.outputs;
    gemm.k = rows;
    gemm.aStrides = {1, columns};
    gemm.bStrides = {c.outputs, 1};
    gemm.cStrides = {ofRow, ofOutput};
    break;
  }
  return gemm;
}

//===----------------------------------------------------------------------===//
// What windows see
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of a convolution with three spatial dimensions. Missing ones have
/// size 1.
struct Windows {
  explicit Windows(const artifact::Convolution &c)
      : batch(c.batch), channels(c.inputs) {
    size_t first = 3 - c.xSizes.size();
    for (size_t i = 0; i < c.xSizes.size(); ++i) {
      x[first + i] = c.xSizes[i];
      y[first + i] = c.ySizes[i];
      w[first + i] = c.wSizes[i];
      stride[first + i] = c.strides[i];
      dilation[first + i] = c.dilations[i];
      padding[first + i] = c.padding[i];
    }
  }

  int64_t imageElements() const {
    return batch * x[0] * x[1] * x[2] * channels;
  }

  /// Calls `visit` for every element of every window, in order, with its offset
  /// in x, or -1 if it is outside.
  template <typename Visitor> void visit(Visitor &&visitor) const {
    int64_t at[3];
    for (int64_t n = 0; n < batch; ++n)
      for (at[0] = 0; at[0] < y[0]; ++at[0])
        for (at[1] = 0; at[1] < y[1]; ++at[1])
          for (at[2] = 0; at[2] < y[2]; ++at[2])
            visitWindow(n, at, visitor);
  }

private:
  template <typename Visitor>
  void visitWindow(int64_t n, const int64_t *at, Visitor &visitor) const {
    for (int64_t a = 0; a < w[0]; ++a)
      for (int64_t b = 0; b < w[1]; ++b)
        for (int64_t c = 0; c < w[2]; ++c) {
          int64_t i = at[0] * stride[0] + a * dilation[0] - padding[0];
          int64_t j = at[1] * stride[1] + b * dilation[1] - padding[1];
          int64_t k = at[2] * stride[2] + c * dilation[2] - padding[2];
          bool isInside =
              i >= 0 && i < x[0] && j >= 0 && j < x[1] && k >= 0 && k < x[2];
          visitor(isInside ? (((n * x[0] + i) * x[1] + j) * x[2] + k) * channels
                           : -1);
        }
  }

  int64_t batch, channels;
  int64_t x[3] = {1, 1, 1}, y[3] = {1, 1, 1}, w[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, padding[3] = {};
};

class ConvolutionProduct final : public PreparedCall {
public:
  ConvolutionProduct(const artifact::Convolution &convolution,
                     std::unique_ptr<PreparedCall> product)
      : windows(convolution), kind(convolution.kind),
        channels(convolution.inputs), product(std::move(product)) {
    int64_t bytes = convolution.batch * count(convolution.ySizes) *
                    count(convolution.wSizes) * channels *
                    int64_t(sizeof(float));
    matrixBytes = roundUp(bytes, scratchAlignment);
  }

  Status run(const void *a, const void *b, void *c, void *scratch) override {
    auto *matrix = static_cast<float *>(scratch);
    char *rest = static_cast<char *>(scratch) + matrixBytes;
    if (kind == ConvolutionKind::backwardData) {
      Status status = product->run(a, b, matrix, rest);
      addUp(matrix, static_cast<float *>(c));
      return status;
    }
    spread(static_cast<const float *>(a), matrix);
    return product->run(matrix, b, c, rest);
  }

  int64_t scratchBytes() const override {
    return matrixBytes + product->scratchBytes();
  }
  std::string implementation() const override {
    return "windows:" + product->implementation();
  }

private:
  void spread(const float *x, float *matrix) const {
    auto bytes = static_cast<size_t>(channels) * sizeof(float);
    windows.visit([&](int64_t offset) {
      if (offset < 0)
        std::memset(matrix, 0, bytes);
      else
        std::memcpy(matrix, x + offset, bytes);
      matrix += channels;
    });
  }

  void addUp(const float *matrix, float *x) const {
    std::fill_n(x, windows.imageElements(), 0.0f);
    windows.visit([&](int64_t offset) {
      if (offset >= 0)
        for (int64_t i = 0; i < channels; ++i)
          x[offset + i] += matrix[i];
      matrix += channels;
    });
  }

  const Windows windows;
  const ConvolutionKind kind;
  const int64_t channels;
  const std::unique_ptr<PreparedCall> product;
  int64_t matrixBytes;
};
} // namespace

Expected<std::unique_ptr<PreparedCall>>
library::prepareConvolutionProduct(const artifact::Convolution &convolution) {
  auto product = prepareGemm(makeProduct(convolution));
  if (!product.ok() || seesAll(convolution))
    return product;
  return std::unique_ptr<PreparedCall>(
      std::make_unique<ConvolutionProduct>(convolution, std::move(*product)));
}
