//===- ConvolutionPlan.cpp - convolutions in cuDNN's terms ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionPlan.h"
#include "Strides.h"

#include "veeline/Base/Numbers.h"
#include "veeline/convolution.h"

#include <algorithm>
#include <limits>

using namespace veeline;
using namespace veeline::cuda;
using artifact::ComputeType;
using artifact::Convolution;
using artifact::DataType;

using List = std::vector<int64_t>;

static constexpr int64_t alignment = 256;
/// The maximal rank of a tensor that cuDNN copies.
static constexpr size_t maxCopiedRank = 5;

/// cuDNN's default math may compute products of f32 in tf32. Small floats are
/// summed in f32 (cuDNN's PSEUDO_HALF_CONFIG and PSEUDO_BFLOAT16_CONFIG). The
/// result has the same type as the operands, because cuDNN has no such
/// convolutions with a result of f32.
static constexpr DnnTypes dnnTypes[] = {
    {DataType::f32, ComputeType::f32, api::dnnFloat, api::fmaMath},
    {DataType::f32, ComputeType::tf32, api::dnnFloat, api::defaultMath},
    {DataType::f16, ComputeType::f32, api::dnnHalf, api::tensorOpMath},
    {DataType::bf16, ComputeType::f32, api::dnnBfloat16, api::tensorOpMath}};

std::span<const DnnTypes> cuda::allDnnTypes() { return dnnTypes; }

const DnnTypes *cuda::findDnnTypes(const Convolution &convolution) {
  const auto *it = std::find_if(std::begin(dnnTypes), std::end(dnnTypes),
                                [&](const DnnTypes &row) {
                                  return row.type == convolution.type &&
                                         row.compute == convolution.compute;
                                });
  return it == std::end(dnnTypes) ? nullptr : it;
}

namespace {
/// A tensor whose numbers may be too large for cuDNN's int.
struct Tensor {
  List sizes, strides;
};
} // namespace

/// A dense tensor. Its channels (dimension 1) are first or last in a sample.
static Tensor makeDense(List sizes, bool isChannelsLast) {
  List strides = library::denseStrides(sizes, isChannelsLast);
  return {std::move(sizes), std::move(strides)};
}

/// Whether `tensor` has this order, perhaps with gaps between samples. Strides
/// of dimensions with one element do not matter.
static bool isInOrder(const Tensor &tensor, bool isChannelsLast) {
  Tensor dense = makeDense(tensor.sizes, isChannelsLast);
  for (size_t i = 1; i < tensor.sizes.size(); ++i)
    if (tensor.sizes[i] != 1 && tensor.strides[i] != dense.strides[i])
      return false;
  return tensor.sizes[0] == 1 || tensor.strides[0] >= dense.strides[0];
}

/// `tensor`, with the strides of a dense tensor for dimensions with one
/// element.
static Tensor normalize(const Tensor &tensor, bool isChannelsLast) {
  Tensor dense = makeDense(tensor.sizes, isChannelsLast);
  if (tensor.sizes[0] != 1)
    dense.strides[0] = tensor.strides[0];
  return dense;
}

static bool isDense(const Tensor &tensor, bool isChannelsLast) {
  Tensor dense = makeDense(tensor.sizes, isChannelsLast);
  return isInOrder(tensor, isChannelsLast) &&
         (tensor.sizes[0] == 1 || tensor.strides[0] == dense.strides[0]);
}

/// x or y, with groups as part of the channels.
static Tensor makeData(int64_t batch, int64_t channels, const List &sizes,
                       const List &strides) {
  Tensor tensor{{batch, channels}, {strides[0], strides[2]}};
  // cuDNN has no convolutions with one spatial dimension.
  if (sizes.size() == 1) {
    tensor.sizes.push_back(1);
    tensor.strides.push_back(sizes[0] * strides[3]);
  }
  tensor.sizes.insert(tensor.sizes.end(), sizes.begin(), sizes.end());
  tensor.strides.insert(tensor.strides.end(), strides.begin() + 3,
                        strides.end());
  return tensor;
}

/// Whether groups and channels of y can be one dimension of w with one stride.
static bool hasEvenGroups(const Convolution &c) {
  return c.groups == 1 || c.outputs == 1 ||
         c.wStrides[0] == c.outputs * c.wStrides[1];
}

/// w, with groups and channels of y as one dimension.
static Tensor makeWeights(const Convolution &c) {
  Tensor w{{c.groups * c.outputs, c.inputs},
           {c.outputs == 1 ? c.wStrides[0] : c.wStrides[1], c.wStrides[2]}};
  if (c.wSizes.size() == 1) {
    w.sizes.push_back(1);
    w.strides.push_back(c.wSizes[0] * c.wStrides[3]);
  }
  w.sizes.insert(w.sizes.end(), c.wSizes.begin(), c.wSizes.end());
  w.strides.insert(w.strides.end(), c.wStrides.begin() + 3, c.wStrides.end());
  return w;
}

/// Splits the first dimension of w into groups and channels of y.
static Tensor splitGroups(Tensor w, const Convolution &c, int64_t ofGroup,
                          int64_t ofOutput) {
  w.sizes.front() = c.outputs;
  w.strides.front() = ofOutput;
  w.sizes.insert(w.sizes.begin(), c.groups);
  w.strides.insert(w.strides.begin(), ofGroup);
  return w;
}

static bool canCount(const List &list) {
  return std::all_of(list.begin(), list.end(), [](int64_t number) {
    return number >= 0 && number <= std::numeric_limits<int>::max();
  });
}

static std::vector<int> toInts(const List &list) {
  return {list.begin(), list.end()};
}

namespace {
/// Plans a convolution. Its functions return false if a number is too large for
/// cuDNN, or if cuDNN cannot make the copies.
class Planner {
public:
  explicit Planner(const Convolution &convolution) : c(convolution) {}

  bool run();
  DnnConvolution plan;

private:
  bool setWindows(List &before, List &after);
  bool addCopy(std::optional<DnnCopy> &copy, const Tensor &given,
               const Tensor &copied, int64_t bytes, int64_t firstElement);
  bool copyX(const Tensor &given, const List &before, const List &after,
             Tensor &x);
  bool copyW(const Tensor &given);
  bool set(DnnTensor &target, const Tensor &tensor) {
    isCountable &= canCount(tensor.sizes) && canCount(tensor.strides);
    target = {toInts(tensor.sizes), toInts(tensor.strides)};
    return isCountable;
  }

  const Convolution &c;
  bool isCountable = true;
};
} // namespace

/// Sets strides and dilations. `before` and `after` receive the padding that
/// windows reach.
bool Planner::setWindows(List &before, List &after) {
  List strides = c.strides, dilations = c.dilations;
  before = c.padding;
  for (size_t i = 0; i < c.xSizes.size(); ++i)
    after.push_back((c.ySizes[i] - 1) * c.strides[i] +
                    (c.wSizes[i] - 1) * c.dilations[i] + 1 - c.xSizes[i] -
                    c.padding[i]);
  if (c.xSizes.size() == 1) {
    strides.insert(strides.begin(), 1);
    dilations.insert(dilations.begin(), 1);
    before.insert(before.begin(), 0);
    after.insert(after.begin(), 0);
  }
  plan.strides = toInts(strides);
  plan.dilations = toInts(dilations);
  return canCount(strides) && canCount(dilations) && canCount(before);
}

bool Planner::addCopy(std::optional<DnnCopy> &copy, const Tensor &given,
                      const Tensor &copied, int64_t bytes,
                      int64_t firstElement) {
  copy.emplace();
  copy->offset = plan.scratchBytes;
  copy->bytes = bytes;
  copy->firstElement = firstElement;
  plan.scratchBytes += roundUp(bytes, alignment);
  return given.sizes.size() <= maxCopiedRank && set(copy->given, given) &&
         set(copy->copied, copied);
}

/// Plans a padded copy of x if the padding after x differs from that before it,
/// or if x has neither order. The copy has the order of y.
bool Planner::copyX(const Tensor &given, const List &before, const List &after,
                    Tensor &x) {
  bool isEven = true;
  for (size_t i = 0; i < before.size(); ++i) {
    // cuDNN ignores elements after the last whole window.
    int64_t beyond = before[i] - after[i];
    isEven &= beyond >= 0 && beyond < plan.strides[i];
  }
  if (isEven && isInOrder(given, plan.isChannelsLast)) {
    x = normalize(given, plan.isChannelsLast);
    plan.padding = toInts(before);
    return true;
  }
  List sizes = given.sizes;
  for (size_t i = 0; i < before.size(); ++i)
    sizes[2 + i] += before[i] + std::max<int64_t>(after[i], 0);
  x = makeDense(std::move(sizes), plan.isChannelsLast);
  plan.padding.assign(before.size(), 0);
  int64_t first = 0;
  for (size_t i = 0; i < before.size(); ++i)
    first += before[i] * x.strides[2 + i];
  return addCopy(plan.copyOfX, given, {given.sizes, x.strides},
                 artifact::numElements(x.sizes) * artifact::byteSize(c.type),
                 first);
}

bool Planner::copyW(const Tensor &given) {
  if (hasEvenGroups(c) && isDense(given, plan.isChannelsLast))
    return true;
  Tensor dense = makeDense(given.sizes, plan.isChannelsLast);
  int64_t bytes =
      artifact::numElements(given.sizes) * artifact::byteSize(c.type);
  if (hasEvenGroups(c))
    return addCopy(plan.copyOfW, given, dense, bytes, 0);
  int64_t ofOutput = dense.strides[0];
  return addCopy(
      plan.copyOfW, splitGroups(given, c, c.wStrides[0], c.wStrides[1]),
      splitGroups(dense, c, c.outputs * ofOutput, ofOutput), bytes, 0);
}

bool Planner::run() {
  List before, after;
  plan.types = findDnnTypes(c);
  if (!plan.types || !setWindows(before, after))
    return false;
  Tensor givenX = makeData(c.batch, c.groups * c.inputs, c.xSizes, c.xStrides);
  Tensor y = makeData(c.batch, c.groups * c.outputs, c.ySizes, c.yStrides);
  Tensor givenW = makeWeights(c);
  plan.groups = static_cast<int>(c.groups);
  plan.isChannelsLast =
      isInOrder(y, true) && (isInOrder(givenX, true) || !isInOrder(y, false));
  Tensor x;
  if (!copyX(givenX, before, after, x) || !copyW(givenW))
    return false;
  plan.wSizes = toInts(givenW.sizes);
  // If y has neither order, cuDNN gets its strides, and may not support them.
  bool isUsual = isInOrder(y, plan.isChannelsLast);
  return canCount(givenW.sizes) && set(plan.x, x) &&
         set(plan.y, isUsual ? normalize(y, plan.isChannelsLast) : y);
}

std::optional<DnnConvolution>
cuda::planConvolution(const Convolution &convolution) {
  Planner planner(convolution);
  if (!planner.run())
    return std::nullopt;
  return std::move(planner.plan);
}

int64_t veeline::deviceConvolutionScratchBytes(const Convolution &convolution) {
  std::optional<DnnConvolution> plan = planConvolution(convolution);
  return plan ? plan->scratchBytes : 0;
}
