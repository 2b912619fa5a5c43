//===- Convolution.cpp - convolutions of a rank, by oneDNN ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/Convolution.h"
#include "ConvolutionProduct.h"
#include "Execution.h"
#include "Strides.h"

#include "veeline/Base/Numbers.h"
#include "veeline/convolution.h"

#include <algorithm>
#include <dnnl.hpp>
#include <optional>
#include <string_view>

using namespace veeline;
using namespace veeline::library;
using artifact::ConvolutionKind;
using dnnl::memory;

static constexpr auto f32 = memory::data_type::f32;

//===----------------------------------------------------------------------===//
// The operands as compiled code has them
//===----------------------------------------------------------------------===//

/// The order of the dimensions of x and y in memory.
enum class Layout { channelsLast, channelsFirst, library };

namespace {
/// A convolution in oneDNN's terms.
struct Geometry {
  explicit Geometry(const artifact::Convolution &convolution);

  const artifact::Convolution &convolution;
  memory::dims x, w, y; ///< The extents of the operands.
  memory::desc givenX, givenW, givenY;
  memory::dims dilations, paddingAfter;
  double flops;
};
} // namespace

static memory::dims stridesOf(const memory::dims &extents, Layout layout) {
  return denseStrides(extents, layout == Layout::channelsLast);
}

/// Whether two sets of strides address the same elements. Strides of dimensions
/// with one element do not matter.
static bool areSame(const memory::dims &extents, const memory::dims &a,
                    const memory::dims &b) {
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != 1 && a[i] != b[i])
      return false;
  return true;
}

/// A layout that the library supports, if `given` is one.
static memory::desc describe(const memory::dims &extents,
                             const memory::dims &given) {
  for (Layout layout : {Layout::channelsLast, Layout::channelsFirst})
    if (memory::dims named = stridesOf(extents, layout);
        areSame(extents, given, named))
      return {extents, f32, named};
  return {extents, f32, given};
}

/// The extents of x or y, with groups as part of the channels.
static memory::dims makeExtents(int64_t batch, int64_t channels,
                                const std::vector<int64_t> &sizes) {
  memory::dims extents{batch, channels};
  extents.insert(extents.end(), sizes.begin(), sizes.end());
  return extents;
}

static memory::dims dropGroup(memory::dims list, size_t group) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(group));
  return list;
}

Geometry::Geometry(const artifact::Convolution &c)
    : convolution(c),
      x(makeExtents(c.batch, c.groups * c.inputs, c.xSizes)), w{c.groups,
                                                                c.outputs,
                                                                c.inputs},
      y(makeExtents(c.batch, c.groups * c.outputs, c.ySizes)) {
  w.insert(w.end(), c.wSizes.begin(), c.wSizes.end());
  givenX = describe(x, dropGroup(c.xStrides, 1));
  givenY = describe(y, dropGroup(c.yStrides, 1));
  memory::dims wStrides = c.wStrides;
  if (c.groups == 1) {
    w = dropGroup(w, 0);
    wStrides = dropGroup(wStrides, 0);
  }
  givenW = {w, f32, wStrides};
  flops = 2.0 * double(c.batch * c.groups * c.outputs * c.inputs);
  for (size_t i = 0; i < c.xSizes.size(); ++i) {
    dilations.push_back(c.dilations[i] - 1);
    int64_t reached = (c.ySizes[i] - 1) * c.strides[i] +
                      (c.wSizes[i] - 1) * c.dilations[i] + 1;
    paddingAfter.push_back(reached - c.xSizes[i] - c.padding[i]);
    flops *= double(c.ySizes[i] * c.wSizes[i]);
  }
}

//===----------------------------------------------------------------------===//
// Capabilities of the library
//===----------------------------------------------------------------------===//

namespace {
/// One of the library's implementations, and the layouts that it needs.
struct Offer {
  dnnl::primitive primitive;
  memory::desc x, w, y, scratchpad;
  std::string implementation;
};
} // namespace

static dnnl::primitive_attr makeAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

template <typename Description>
static void finish(Offer &offer, const Description &description,
                   dnnl::primitive primitive) {
  offer.primitive = std::move(primitive);
  offer.scratchpad = description.scratchpad_desc();
  offer.implementation = description.impl_info_str();
}

/// Asks the library for an implementation for `layout`. Throws the library's
/// exception if it has none.
static Offer askFor(const Geometry &geometry, Layout layout,
                    const dnnl::engine &engine) {
  const artifact::Convolution &c = geometry.convolution;
  auto describeData = [&](const memory::dims &extents) {
    if (layout == Layout::library)
      return memory::desc(extents, f32, memory::format_tag::any);
    return memory::desc(extents, f32, stridesOf(extents, layout));
  };
  memory::desc x = describeData(geometry.x), y = describeData(geometry.y);
  memory::desc w(geometry.w, f32, memory::format_tag::any);
  dnnl::primitive_attr attributes = makeAttributes();
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  Offer offer;
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, x, w, y, c.strides,
       geometry.dilations, c.padding, geometry.paddingAfter},
      attributes, engine);
  if (c.kind == ConvolutionKind::forward) {
    offer.x = forward.src_desc();
    offer.w = forward.weights_desc();
    offer.y = forward.dst_desc();
    finish(offer, forward, dnnl::convolution_forward(forward));
  } else if (c.kind == ConvolutionKind::backwardData) {
    dnnl::convolution_backward_data::primitive_desc backward(
        {direct, x, w, y, c.strides, geometry.dilations, c.padding,
         geometry.paddingAfter},
        attributes, engine, forward);
    offer.x = backward.diff_src_desc();
    offer.w = backward.weights_desc();
    offer.y = backward.diff_dst_desc();
    finish(offer, backward, dnnl::convolution_backward_data(backward));
  } else {
    dnnl::convolution_backward_weights::primitive_desc backward(
        {direct, x, w, y, c.strides, geometry.dilations, c.padding,
         geometry.paddingAfter},
        attributes, engine, forward);
    offer.x = backward.src_desc();
    offer.w = backward.diff_weights_desc();
    offer.y = backward.diff_dst_desc();
    finish(offer, backward, dnnl::convolution_backward_weights(backward));
  }
  return offer;
}

static bool areAll(const std::vector<int64_t> &list, int64_t value) {
  return std::all_of(list.begin(), list.end(),
                     [&](int64_t element) { return element == value; });
}

/// Whether windows have one element. The convolution is then a matrix product,
/// of each sample or of all.
static bool isPointwise(const artifact::Convolution &c) {
  return c.groups == 1 && areAll(c.wSizes, 1) && areAll(c.padding, 0);
}

/// The estimated FLOPs of an implementation in a nanosecond, measured with
/// oneDNN 2.6 on a CPU with AVX-512. Precision does not matter, because rates
/// differ by multiples.
static double estimateRate(const Offer &offer, const Geometry &geometry) {
  const artifact::Convolution &c = geometry.convolution;
  std::string_view name = offer.implementation;
  if (name.starts_with("ref"))
    return 0.1;
  if (name.find("gemm:") != std::string_view::npos) {
    if (isPointwise(c))
      return 130;
    // This implementation copies x for every element of the window, group by
    // group.
    double rate = c.inputs < 16 ? 45 : 75;
    return c.groups == 1 ? rate : std::min(rate, 0.7 * double(c.inputs));
  }
  // This implementation computes 16 channels of x, even if there are fewer.
  bool isOfFew = c.kind == ConvolutionKind::backwardData && c.groups == 1;
  return 160 * (isOfFew ? std::min(1.0, double(c.inputs) / 16) : 1);
}

/// The estimated time in nanoseconds, including copies to other layouts and
/// back.
static double estimateTime(const Offer &offer, const Geometry &geometry) {
  constexpr double copiedBytesPerNs = 8;
  double time = geometry.flops / estimateRate(offer, geometry);
  for (auto [given, wanted] : {std::pair(&geometry.givenX, &offer.x),
                               std::pair(&geometry.givenY, &offer.y),
                               std::pair(&geometry.givenW, &offer.w)})
    if (*given != *wanted)
      time += double(wanted->get_size()) / copiedBytesPerNs;
  return time;
}

/// Chooses the implementation with the least estimated time. The choice depends
/// on shapes, layouts and the CPU, but not on measurements, so that bits are
/// the same in every run.
static Offer choose(const Geometry &geometry, const dnnl::engine &engine) {
  std::optional<Offer> best;
  std::optional<dnnl::error> error;
  // If times are equal, the first layout is taken: copies to the library's
  // blocks of channels are the fastest.
  for (Layout layout :
       {Layout::library, Layout::channelsLast, Layout::channelsFirst}) {
    try {
      Offer offer = askFor(geometry, layout, engine);
      if (!best ||
          estimateTime(offer, geometry) < estimateTime(*best, geometry))
        best = std::move(offer);
    } catch (const dnnl::error &reason) {
      error = reason;
    }
  }
  if (!best)
    throw *error;
  return std::move(*best);
}

//===----------------------------------------------------------------------===//
// The prepared convolution
//===----------------------------------------------------------------------===//

namespace {
/// An operand, and its copy in the layout that the library needs.
struct Operand {
  bool isCopied = false;
  int64_t offset = 0; ///< The offset of the copy in the scratch memory.
  Execution copy;
};

class PreparedConvolution final : public PreparedCall {
public:
  explicit PreparedConvolution(const artifact::Convolution &convolution)
      : engine(dnnl::engine::kind::cpu, 0), stream(engine) {
    Geometry geometry(convolution);
    Offer offer = choose(geometry, engine);
    name = offer.implementation;
    // For each kind, the numbers of x, w and y among a, b and c.
    const int roles[3][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
    const int *role = roles[static_cast<size_t>(convolution.kind)];
    const memory::desc *given[] = {&geometry.givenX, &geometry.givenW,
                                   &geometry.givenY};
    const memory::desc *wanted[] = {&offer.x, &offer.w, &offer.y};
    for (int i = 0; i < 3; ++i)
      prepareCopy(operands[i], *given[role[i]], *wanted[role[i]],
                  /*isResult=*/i == 2);
    const int names[3][3] = {
        {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
        {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS}};
    const int *mine = names[static_cast<size_t>(convolution.kind)];
    execution = Execution(offer.primitive, engine,
                          {{mine[0], *wanted[role[0]]},
                           {mine[1], *wanted[role[1]]},
                           {mine[2], *wanted[role[2]]},
                           {DNNL_ARG_SCRATCHPAD, offer.scratchpad}});
    auto needed = static_cast<int64_t>(offer.scratchpad.get_size());
    libraryScratch = std::max(libraryScratch, needed);
  }

  Status run(const void *a, const void *b, void *c, void *scratch) override {
    if (dnnl_status_t status = execute(a, b, c, static_cast<char *>(scratch)))
      return Status::error("oneDNN's convolution failed with status " +
                           std::to_string(status));
    return Status::success();
  }

  int64_t scratchBytes() const override { return copyBytes + libraryScratch; }
  std::string implementation() const override { return name; }

private:
  /// Plans a copy from `given` to `wanted` or, for the result, back.
  void prepareCopy(Operand &operand, const memory::desc &given,
                   const memory::desc &wanted, bool isResult) {
    operand.isCopied = given != wanted;
    if (!operand.isCopied)
      return;
    operand.offset = copyBytes;
    copyBytes +=
        roundUp(static_cast<int64_t>(wanted.get_size()), scratchAlignment);
    const memory::desc &from = isResult ? wanted : given;
    const memory::desc &to = isResult ? given : wanted;
    dnnl::reorder::primitive_desc description(engine, from, engine, to,
                                              makeAttributes());
    memory::desc scratchpad = description.scratchpad_desc();
    operand.copy = Execution(dnnl::reorder(description), engine,
                             {{DNNL_ARG_FROM, from},
                              {DNNL_ARG_TO, to},
                              {DNNL_ARG_SCRATCHPAD, scratchpad}});
    libraryScratch =
        std::max(libraryScratch, static_cast<int64_t>(scratchpad.get_size()));
  }

  dnnl_status_t execute(const void *a, const void *b, void *c, char *scratch) {
    const void *handles[] = {a, b, c};
    char *library = scratch + copyBytes;
    for (int i = 0; i < 3; ++i) {
      if (!operands[i].isCopied)
        continue;
      char *place = scratch + operands[i].offset;
      if (i != 2)
        if (dnnl_status_t status =
                operands[i].copy.run(stream, {handles[i], place, library}))
          return status;
      handles[i] = place;
    }
    if (dnnl_status_t status = execution.run(
            stream, {handles[0], handles[1], handles[2], library}))
      return status;
    if (operands[2].isCopied)
      return operands[2].copy.run(stream, {handles[2], c, library});
    return dnnl_success;
  }

  dnnl::engine engine;
  dnnl::stream stream;
  Operand operands[3];
  Execution execution;
  int64_t copyBytes = 0, libraryScratch = 0;
  std::string name;
};
} // namespace

/// Formats extents as "4x64x56x56".
static std::string print(const memory::dims &extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

Expected<std::unique_ptr<PreparedCall>>
library::prepareConvolution(const artifact::Convolution &convolution) {
  if (isProduct(convolution))
    return prepareConvolutionProduct(convolution);
  try {
    return std::unique_ptr<PreparedCall>(
        std::make_unique<PreparedConvolution>(convolution));
  } catch (const dnnl::error &error) {
    const artifact::Convolution &c = convolution;
    return Status::error(
        "oneDNN cannot convolve " +
        print(makeExtents(c.batch, c.groups * c.inputs, c.xSizes)) + " with " +
        print(makeExtents(c.groups * c.outputs, c.inputs, c.wSizes)) + " to " +
        print(makeExtents(c.batch, c.groups * c.outputs, c.ySizes)) + ": " +
        error.what());
  }
}
