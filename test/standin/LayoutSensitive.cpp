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

#include "veeline/Library/Convolution.h"
#include "veeline/Library/Gemm.h"

#include <functional>
#include <numeric>

using namespace veeline;
using namespace veeline::library;
using artifact::ConvolutionKind;

using List = std::vector<int64_t>;

static uint64_t hashOf(std::initializer_list<const List *> strides) {
  uint64_t hash = 1469598103934665603u;
  for (const List *list : strides)
    for (int64_t stride : *list)
      hash = (hash ^ static_cast<uint64_t>(stride)) * 1099511628211u;
  return hash;
}

/// The order in which a loop of `size` runs: from some number in equal steps,
/// both of which depend on the strides of a call.
static List makeOrder(int64_t size, uint64_t hash) {
  List order;
  if (size == 0)
    return order;
  auto all = static_cast<uint64_t>(size);
  auto at = static_cast<int64_t>((hash >> 33) % all);
  auto step = 1 + static_cast<int64_t>((hash >> 17) % all);
  while (std::gcd(step, size) != 1)
    ++step;
  for (int64_t i = 0; i < size; ++i, at = (at + step) % size)
    order.push_back(at);
  return order;
}

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
        order(makeOrder(
            gemm.k, hashOf({&gemm.aStrides, &gemm.bStrides, &gemm.cStrides}))) {
  }

  Status run(const void *a, const void *b, void *c, void *) override {
    for (int64_t i = 0; i < count(gemm.batch); ++i) {
      List index = unflatten(i, gemm.batch);
      multiply(static_cast<const float *>(a) + dot(index, gemm.aStrides),
               static_cast<const float *>(b) + dot(index, gemm.bStrides),
               static_cast<float *>(c) + dot(index, gemm.cStrides));
    }
    return Status::success();
  }
  int64_t scratchBytes() const override { return 0; }
  std::string implementation() const override { return "layout-sensitive"; }

private:
  void multiply(const float *left, const float *right, float *result) const {
    size_t d = gemm.batch.size();
    const int64_t *a = &gemm.aStrides[d], *b = &gemm.bStrides[d],
                  *c = &gemm.cStrides[d];
    for (int64_t m = 0; m < gemm.m; ++m) {
      float *row = result + m * c[0];
      for (int64_t n = 0; n < gemm.n; ++n)
        row[n * c[1]] = 0;
      for (int64_t k : order)
        for (int64_t n = 0; n < gemm.n; ++n)
          row[n * c[1]] +=
              left[m * a[0] + k * a[1]] * right[k * b[0] + n * b[1]];
    }
  }

  artifact::Gemm gemm;
  List order;
};

/// Sums over the loops that the result does not have. Loops are n, g, c, f,
/// then the elements of the window, then those of y.
class Windows final : public PreparedCall {
public:
  explicit Windows(const artifact::Convolution &c);

  Status run(const void *a, const void *b, void *result, void *) override;
  int64_t scratchBytes() const override { return 0; }
  std::string implementation() const override { return "layout-sensitive"; }

private:
  /// An element of x and the one of y that it meets at an element of the
  /// window.
  struct Term {
    int64_t x, y; ///< Offsets within a channel.
  };

  void clear(float *result) const;
  /// The elements of x under element `k` of the windows.
  std::vector<Term> listTerms(const List &k) const;
  template <typename AddT> void forEach(AddT add) const;

  artifact::Convolution c;
  List outerSizes;
  std::vector<List> outerOrders; ///< For each of outerSizes.
  List yOrder;
  /// By element of the window.
  std::vector<std::vector<Term>> terms;
};
} // namespace

Windows::Windows(const artifact::Convolution &c)
    : c(c), outerSizes{c.batch, c.groups, c.inputs, c.outputs,
                       count(c.wSizes)} {
  uint64_t hash = hashOf({&c.xStrides, &c.wStrides, &c.yStrides});
  for (int64_t size : outerSizes)
    outerOrders.push_back(makeOrder(size, hash));
  yOrder = makeOrder(count(c.ySizes), hash);
  for (int64_t k = 0; k < count(c.wSizes); ++k)
    terms.push_back(listTerms(unflatten(k, c.wSizes)));
}

std::vector<Windows::Term> Windows::listTerms(const List &k) const {
  std::vector<Term> list;
  for (int64_t number : yOrder) {
    List y = unflatten(number, c.ySizes), x;
    bool isInside = true;
    for (size_t i = 0; i < y.size(); ++i) {
      x.push_back(y[i] * c.strides[i] + k[i] * c.dilations[i] - c.padding[i]);
      isInside &= x.back() >= 0 && x.back() < c.xSizes[i];
    }
    if (isInside)
      list.push_back({dot(x, c.xStrides, 3), dot(y, c.yStrides, 3)});
  }
  return list;
}

/// Some elements of the result may have no term.
void Windows::clear(float *result) const {
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
    result[dot(unflatten(i, sizes), strides)] = 0;
}

/// Calls `add` with the offsets of channels in x and y, that of an element of
/// w, and the terms of that element.
template <typename AddT> void Windows::forEach(AddT add) const {
  for (int64_t i = 0; i < count(outerSizes); ++i) {
    List at = unflatten(i, outerSizes);
    for (size_t loop = 0; loop < at.size(); ++loop)
      at[loop] = outerOrders[loop][static_cast<size_t>(at[loop])];
    add(dot({at[0], at[1], at[2]}, c.xStrides),
        dot({at[0], at[1], at[3]}, c.yStrides),
        dot({at[1], at[3], at[2]}, c.wStrides) +
            dot(unflatten(at[4], c.wSizes), c.wStrides, 3),
        terms[static_cast<size_t>(at[4])]);
  }
}

Status Windows::run(const void *a, const void *b, void *result, void *) {
  auto *to = static_cast<float *>(result);
  auto *left = static_cast<const float *>(a),
       *right = static_cast<const float *>(b);
  clear(to);
  forEach([&](int64_t x, int64_t y, int64_t w, const std::vector<Term> &list) {
    switch (c.kind) {
    case ConvolutionKind::forward:
      for (Term term : list)
        to[y + term.y] += left[x + term.x] * right[w];
      break;
    case ConvolutionKind::backwardData:
      for (Term term : list)
        to[x + term.x] += left[y + term.y] * right[w];
      break;
    case ConvolutionKind::backwardWeights:
      for (Term term : list)
        to[w] += left[x + term.x] * right[y + term.y];
      break;
    }
  });
  return Status::success();
}

Expected<std::unique_ptr<PreparedCall>>
library::prepareGemmF32(const artifact::Gemm &gemm) {
  return std::unique_ptr<PreparedCall>(std::make_unique<Product>(gemm));
}

Expected<std::unique_ptr<PreparedCall>>
library::prepareConvolution(const artifact::Convolution &convolution) {
  return std::unique_ptr<PreparedCall>(std::make_unique<Windows>(convolution));
}
