//===- LayoutSensitive.cpp - a library whose bits depend on layouts -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library of products and convolutions may choose its implementation, and so
// the order of its sums, by the strides of operands, and does so on some CPUs.
// This one does it everywhere: equal computations that are called with other
// strides have other bits.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "Gemm.h"

#include <functional>
#include <map>
#include <numeric>
#include <optional>

using namespace veeline;
using namespace veeline::host;
using artifact::ConvolutionKind;

using List = std::vector<int64_t>;

namespace {
/// The order in which a sum of `size` terms is taken, by all strides of a call.
class Order {
public:
  Order(int64_t size, std::initializer_list<const List *> strides)
      : size(size) {
    uint64_t hash = 1469598103934665603u;
    for (const List *list : strides)
      for (int64_t stride : *list)
        hash = (hash ^ static_cast<uint64_t>(stride)) * 1099511628211u;
    first = static_cast<int64_t>((hash >> 33) % static_cast<uint64_t>(size));
    step = 1 + static_cast<int64_t>((hash >> 17) % static_cast<uint64_t>(size));
    while (std::gcd(step, size) != 1)
      ++step;
  }
  template <typename TermT> float sum(TermT term) const {
    float sum = 0;
    for (int64_t i = 0, at = first; i < size; ++i, at = (at + step) % size)
      sum += term(at);
    return sum;
  }

private:
  int64_t size, first, step;
};
} // namespace

static int64_t count(const List &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// Element `number` of an iteration space, innermost dimension last.
static List unflatten(int64_t number, const List &sizes) {
  List index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; number /= sizes[i])
    index[i] = number % sizes[i];
  return index;
}

static int64_t dot(const List &index, const List &strides, size_t skipped = 0) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i)
    offset += index[i] * strides[skipped + i];
  return offset;
}

namespace {
class Product final : public PreparedCall {
public:
  explicit Product(const artifact::Gemm &gemm)
      : gemm(gemm),
        order(gemm.k, {&gemm.aStrides, &gemm.bStrides, &gemm.cStrides}) {}

  Status run(const void *a, const void *b, void *c, void *) override {
    size_t d = gemm.batch.size();
    for (int64_t i = 0; i < count(gemm.batch); ++i) {
      List index = unflatten(i, gemm.batch);
      const float *left =
          static_cast<const float *>(a) + dot(index, gemm.aStrides);
      const float *right =
          static_cast<const float *>(b) + dot(index, gemm.bStrides);
      float *result = static_cast<float *>(c) + dot(index, gemm.cStrides);
      for (int64_t m = 0; m < gemm.m; ++m)
        for (int64_t n = 0; n < gemm.n; ++n)
          result[m * gemm.cStrides[d] + n * gemm.cStrides[d + 1]] =
              order.sum([&](int64_t k) {
                return left[m * gemm.aStrides[d] + k * gemm.aStrides[d + 1]] *
                       right[k * gemm.bStrides[d] + n * gemm.bStrides[d + 1]];
              });
    }
    return Status::success();
  }
  int64_t scratchBytes() const override { return 0; }
  std::string implementation() const override { return "layout-sensitive"; }

private:
  artifact::Gemm gemm;
  Order order;
};

/// Sums over the loops that the result does not have. Loops are n, g, c, f,
/// then the elements of y, then those of the window.
class Windows final : public PreparedCall {
public:
  explicit Windows(const artifact::Convolution &c) : c(c) {
    List all{c.batch, c.groups, c.inputs, c.outputs};
    all.insert(all.end(), c.ySizes.begin(), c.ySizes.end());
    all.insert(all.end(), c.wSizes.begin(), c.wSizes.end());
    loops = std::move(all);
  }

  /// Terms are collected by element of the result, then added in order.
  Status run(const void *a, const void *b, void *result, void *) override {
    bool isForward = c.kind == ConvolutionKind::forward;
    bool isOfData = c.kind == ConvolutionKind::backwardData;
    std::map<int64_t, std::vector<float>> terms = clear(result);
    for (int64_t i = 0; i < count(loops); ++i) {
      List at = unflatten(i, loops);
      std::optional<int64_t> x = findX(at);
      if (!x)
        continue;
      int64_t w = findW(at), y = findY(at);
      float left = static_cast<const float *>(a)[isOfData ? y : *x];
      float right =
          static_cast<const float *>(b)[isForward || isOfData ? w : y];
      terms[isForward ? y : isOfData ? *x : w].push_back(left * right);
    }
    for (auto &[place, list] : terms) {
      if (list.empty())
        continue;
      Order order(static_cast<int64_t>(list.size()),
                  {&c.xStrides, &c.wStrides, &c.yStrides});
      static_cast<float *>(result)[place] = order.sum(
          [&list = list](int64_t i) { return list[static_cast<size_t>(i)]; });
    }
    return Status::success();
  }
  int64_t scratchBytes() const override { return 0; }
  std::string implementation() const override { return "layout-sensitive"; }

private:
  /// Sets all elements of the result to zero: some may have no term.
  std::map<int64_t, std::vector<float>> clear(void *result) const {
    bool isOfX = c.kind == ConvolutionKind::backwardData;
    List sizes, strides;
    if (c.kind == ConvolutionKind::backwardWeights) {
      sizes = {c.groups, c.outputs, c.inputs};
      sizes.insert(sizes.end(), c.wSizes.begin(), c.wSizes.end());
      strides = c.wStrides;
    } else {
      sizes = {c.batch, c.groups, isOfX ? c.inputs : c.outputs};
      const List &spatial = isOfX ? c.xSizes : c.ySizes;
      sizes.insert(sizes.end(), spatial.begin(), spatial.end());
      strides = isOfX ? c.xStrides : c.yStrides;
    }
    for (int64_t i = 0; i < count(sizes); ++i)
      static_cast<float *>(result)[dot(unflatten(i, sizes), strides)] = 0;
    return {};
  }
  std::optional<int64_t> findX(const List &at) const {
    size_t d = c.xSizes.size();
    int64_t offset =
        at[0] * c.xStrides[0] + at[1] * c.xStrides[1] + at[2] * c.xStrides[2];
    for (size_t i = 0; i < d; ++i) {
      int64_t place = at[4 + i] * c.strides[i] +
                      at[4 + d + i] * c.dilations[i] - c.padding[i];
      if (place < 0 || place >= c.xSizes[i])
        return std::nullopt;
      offset += place * c.xStrides[3 + i];
    }
    return offset;
  }
  int64_t findW(const List &at) const {
    size_t d = c.xSizes.size();
    List window(at.begin() + static_cast<std::ptrdiff_t>(4 + d), at.end());
    return at[1] * c.wStrides[0] + at[3] * c.wStrides[1] +
           at[2] * c.wStrides[2] + dot(window, c.wStrides, 3);
  }
  int64_t findY(const List &at) const {
    auto begin = at.begin() + 4;
    List element(begin, begin + static_cast<std::ptrdiff_t>(c.xSizes.size()));
    return at[0] * c.yStrides[0] + at[1] * c.yStrides[1] +
           at[3] * c.yStrides[2] + dot(element, c.yStrides, 3);
  }

  artifact::Convolution c;
  List loops;
};
} // namespace

Expected<std::unique_ptr<PreparedCall>>
host::prepareGemmF32(const artifact::Gemm &gemm) {
  return std::unique_ptr<PreparedCall>(std::make_unique<Product>(gemm));
}

Expected<std::unique_ptr<PreparedCall>>
host::prepareConvolution(const artifact::Convolution &convolution) {
  return std::unique_ptr<PreparedCall>(std::make_unique<Windows>(convolution));
}
