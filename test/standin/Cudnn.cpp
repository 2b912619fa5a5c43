//===- Cudnn.cpp - cuDNN, without a GPU -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes convolutions by plain loops, in an order of sums that depends on
// layouts, and rounds results once. Multiplies in tf32 where it may. Refuses
// what the real library could not take, or would only take slowly, and what its
// documentation does not name. Of the algorithms that the heuristics list, one
// can be run: it is deterministic and needs little workspace, which it fills
// with garbage.
//
//===----------------------------------------------------------------------===//

#include "CudnnHandle.h"
#include "Elements.h"
#include "StandIn.h"

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <vector>

using namespace veeline;
using namespace veeline::standin::dnn;
using standin::Element;
namespace api = veeline::cuda::api;

static constexpr int minRank = 4, maxRank = 8;

/// The algorithm that can be run.
static constexpr int theAlgorithm = 1;

namespace {
using List = std::vector<int64_t>;

struct Tensor {
  int type = -1;
  List sizes, strides;

  int64_t span() const {
    int64_t last = 0;
    for (size_t i = 0; i < sizes.size(); ++i)
      last += (sizes[i] - 1) * strides[i];
    return last + 1;
  }
  Element element() const {
    switch (type) {
    case api::dnnFloat:
      return Element::f32;
    case api::dnnHalf:
      return Element::f16;
    case api::dnnBfloat16:
      return Element::bf16;
    default:
      return Element::none;
    }
  }
};
struct Filter {
  int type = -1, format = -1;
  List sizes;

  Tensor tensor() const;
};
struct Convolution {
  List padding, strides, dilations;
  int mode = -1, computeType = -1, groups = 1, mathType = api::defaultMath;
};
} // namespace

#define ENTER(name)                                                            \
  if (int code = standin::enterCall(name))                                     \
  return code

template <typename T, typename Opaque> static T &get(Opaque handle) {
  return *reinterpret_cast<T *>(handle);
}

/// Strides without gaps: channels (dimension 1) first or last.
static List denseStrides(const List &sizes, int format) {
  List strides(sizes.size());
  int64_t stride = 1;
  if (format == api::formatNhwc) {
    strides[1] = 1;
    stride = sizes[1];
  }
  for (size_t i = sizes.size(); i-- > 0;) {
    if (i == 1 && format == api::formatNhwc)
      continue;
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

Tensor Filter::tensor() const {
  return {type, sizes, denseStrides(sizes, format)};
}

/// Whether `tensor` is in the order of `format`; samples may have gaps.
static bool isInOrder(const Tensor &tensor, int format) {
  List dense = denseStrides(tensor.sizes, format);
  for (size_t i = 1; i < dense.size(); ++i)
    if (tensor.strides[i] != dense[i])
      return false;
  return tensor.strides[0] >= dense[0];
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

/// Whether y has the sizes that windows over x give.
static bool isRightSize(const Tensor &x, const Filter &w, const Tensor &y,
                        const Convolution &c) {
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != w.sizes[1] * c.groups ||
      y.sizes[1] != w.sizes[0] || w.sizes[0] % c.groups != 0)
    return false;
  for (size_t i = 0; i < c.padding.size(); ++i) {
    int64_t rest = x.sizes[2 + i] + 2 * c.padding[i] -
                   ((w.sizes[2 + i] - 1) * c.dilations[i] + 1);
    if (rest < 0 || y.sizes[2 + i] != rest / c.strides[i] + 1)
      return false;
  }
  return true;
}

/// Whether the types are cuDNN's FLOAT_CONFIG, PSEUDO_HALF_CONFIG or
/// PSEUDO_BFLOAT16_CONFIG. The last two need tensor cores.
static bool hasTypes(const Tensor &x, const Filter &w, const Tensor &y,
                     const Convolution &c) {
  bool isKnown =
      x.type == api::dnnFloat
          ? c.mathType == api::fmaMath || c.mathType == api::defaultMath
          : x.element() != Element::none && c.mathType == api::tensorOpMath;
  return isKnown && w.type == x.type && y.type == x.type &&
         c.computeType == api::dnnFloat;
}

static int check(const Tensor &x, const Filter &w, const Tensor &y,
                 const Convolution &c) {
  size_t rank = x.sizes.size();
  if (w.sizes.size() != rank || y.sizes.size() != rank ||
      c.padding.size() + 2 != rank || c.mode != api::crossCorrelation ||
      !isRightSize(x, w, y, c))
    return badShape;
  if (rank > 5)
    return unsupportedShape;
  if (!hasTypes(x, w, y, c))
    return unsupportedType;
  return isInOrder(x, w.format) && isInOrder(y, w.format) ? 0
                                                          : unsupportedLayout;
}

static bool isOne(const void *alpha, const void *beta) {
  float a, b;
  std::memcpy(&a, alpha, sizeof(a));
  std::memcpy(&b, beta, sizeof(b));
  return a == 1 && b == 0;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static bool advance(List &index, const List &limits) {
  for (size_t i = index.size(); i-- > 0; index[i] = 0)
    if (++index[i] < limits[i])
      return true;
  return false;
}

static int64_t place(const List &index, const List &strides) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i)
    sum += index[i] * strides[i];
  return sum;
}

enum class Kind { forward, backwardData, backwardFilter };

namespace {
struct Work {
  Kind kind;
  Tensor x, w, y;
  Convolution c;
  char *atX, *atW, *atY;
  char *workspace;
  uint64_t number = 0; ///< Of the call.

  standin::SumOrder order{Element::f32, {}};

  void chooseOrder() {
    order = {x.element(), {}};
    for (const Tensor *tensor : {&x, &w, &y})
      for (int64_t stride : tensor->strides)
        order.add(stride);
  }

  /// Marks the workspace, which it has to itself until run() is over.
  void begin() const { std::memcpy(workspace, &number, sizeof(number)); }

  void run() const {
    // Another call with the same workspace spoils both.
    bool isSpoilt = std::memcmp(workspace, &number, sizeof(number)) != 0;
    std::memset(workspace, 0xff, workspaceBytes);
    const Tensor &target = kind == Kind::forward        ? y
                           : kind == Kind::backwardData ? x
                                                        : w;
    char *result = kind == Kind::forward        ? atY
                   : kind == Kind::backwardData ? atX
                                                : atW;
    std::vector<double> sums(static_cast<size_t>(target.span()),
                             isSpoilt ? std::nan("") : order.begin());
    addProducts(sums);
    List at(target.sizes.size());
    do {
      int64_t element = place(at, target.strides);
      standin::store(target.element(),
                     result + element * standin::bytesOf(target.element()),
                     order.end(sums[element]));
    } while (advance(at, target.sizes));
  }

private:
  /// Loops over samples, channels of y, and channels of x in a group.
  void addProducts(std::vector<double> &sums) const {
    int64_t perGroup = y.sizes[1] / c.groups;
    for (int64_t n = 0; n < y.sizes[0]; ++n)
      for (int64_t f = 0; f < y.sizes[1]; ++f)
        for (int64_t i = 0; i < w.sizes[1]; ++i) {
          int64_t inGroup = f / perGroup * w.sizes[1] + i;
          addWindows(sums, 0, n * x.strides[0] + inGroup * x.strides[1],
                     f * w.strides[0] + i * w.strides[1],
                     n * y.strides[0] + f * y.strides[1]);
        }
  }

  /// Loops over windows and their elements, from spatial dimension `i` on.
  void addWindows(std::vector<double> &sums, size_t i, int64_t inX, int64_t inW,
                  int64_t inY) const {
    if (i == c.padding.size())
      return addProduct(sums, inX, inW, inY);
    for (int64_t o = 0; o < y.sizes[2 + i]; ++o)
      for (int64_t k = 0; k < w.sizes[2 + i]; ++k) {
        int64_t at = o * c.strides[i] + k * c.dilations[i] - c.padding[i];
        if (at >= 0 && at < x.sizes[2 + i])
          addWindows(sums, i + 1, inX + at * x.strides[2 + i],
                     inW + k * w.strides[2 + i], inY + o * y.strides[2 + i]);
      }
  }

  void add(double &sum, double product) const {
    sum = order.plus(sum, product);
  }

  double factorAt(const char *data, int64_t index) const {
    double value = standin::elementAt(
        x.element(), data + index * standin::bytesOf(x.element()));
    bool isTf32 = x.type == api::dnnFloat && c.mathType == api::defaultMath;
    return isTf32 ? standin::roundToTf32(value) : value;
  }

  void addProduct(std::vector<double> &sums, int64_t inX, int64_t inW,
                  int64_t inY) const {
    switch (kind) {
    case Kind::forward:
      add(sums[inY], factorAt(atX, inX) * factorAt(atW, inW));
      break;
    case Kind::backwardData:
      add(sums[inX], factorAt(atY, inY) * factorAt(atW, inW));
      break;
    case Kind::backwardFilter:
      add(sums[inW], factorAt(atX, inX) * factorAt(atY, inY));
      break;
    }
  }
};
} // namespace

static char *findElements(const void *address, const Tensor &tensor) {
  int64_t width = standin::bytesOf(tensor.element());
  if (width == 0 || reinterpret_cast<uintptr_t>(address) % width)
    return nullptr;
  return standin::find(address, tensor.span() * width);
}

static int convolve(Kind kind, api::DnnHandle handle, const void *alpha,
                    api::TensorDesc xDesc, const void *x, api::FilterDesc wDesc,
                    const void *w, api::TensorDesc yDesc, const void *y,
                    api::ConvolutionDesc desc, int algo, void *workspace,
                    size_t bytes, const void *beta) {
  const auto &filter = get<Filter>(wDesc);
  Work work{kind,
            get<Tensor>(xDesc),
            filter.tensor(),
            get<Tensor>(yDesc),
            get<Convolution>(desc),
            nullptr,
            nullptr,
            nullptr,
            nullptr};
  if (int code = check(work.x, filter, work.y, work.c))
    return code;
  work.chooseOrder();
  work.atX = findElements(x, work.x);
  work.atW = findElements(w, work.w);
  work.atY = findElements(y, work.y);
  work.workspace = standin::find(workspace, static_cast<int64_t>(bytes));
  if (!isOne(alpha, beta) || !work.atX || !work.atW || !work.atY)
    return badParam;
  if (algo != theAlgorithm || bytes < workspaceBytes || !work.workspace)
    return executionFailed;
  static std::atomic<uint64_t> numCalls;
  work.number = ++numCalls;
  standin::enqueue(get<Handle>(handle).stream, [work] { work.begin(); });
  standin::enqueue(get<Handle>(handle).stream, [work] { work.run(); });
  return 0;
}

/// Lists an algorithm that is fast but not deterministic, one that does not
/// support the shape, one that needs more memory than there is, and the one
/// that can be run.
static int listAlgorithms(const Tensor &x, const Filter &w, const Tensor &y,
                          const Convolution &c, int requested, int *found,
                          api::ConvolutionAlgo *algos) {
  *found = 0;
  if (int code = check(x, w, y, c))
    return code;
  const std::array<api::ConvolutionAlgo, 4> all = {{
      {0, 0, 1, 0, 0, c.mathType, {}},
      {6, unsupportedShape, -1, 0, api::deterministic, c.mathType, {}},
      {5, 0, 2, size_t(1) << 40, api::deterministic, c.mathType, {}},
      {theAlgorithm, 0, 3, workspaceBytes, api::deterministic, c.mathType, {}},
  }};
  for (const api::ConvolutionAlgo &algo : all)
    if (*found < requested)
      algos[(*found)++] = algo;
  return 0;
}

static int measure(const Tensor &x, const Filter &w, const Tensor &y,
                   const Convolution &c, int algo, size_t *bytes) {
  if (int code = check(x, w, y, c))
    return code;
  *bytes = algo == 5              ? size_t(1) << 40
           : algo == theAlgorithm ? workspaceBytes
                                  : 0;
  return 0;
}

extern "C" {

VEELINE_STANDIN size_t cudnnGetVersion() {
  return static_cast<size_t>(standin::setting("VEELINE_STANDIN_CUDNN", 91900));
}

VEELINE_STANDIN const char *cudnnGetErrorString(int status) {
#define ERROR(text, code)                                                      \
  if (status == code)                                                          \
    return #text;
#include "DnnErrors.inc"
#undef ERROR
  return nullptr;
}

VEELINE_STANDIN int cudnnCreate(api::DnnHandle *handle) {
  ENTER("cudnnCreate");
  *handle = reinterpret_cast<api::DnnHandle>(new Handle());
  return 0;
}

VEELINE_STANDIN int cudnnDestroy(api::DnnHandle handle) {
  ENTER("cudnnDestroy");
  delete &get<Handle>(handle);
  return 0;
}

VEELINE_STANDIN int cudnnSetStream(api::DnnHandle handle, api::Stream stream) {
  ENTER("cudnnSetStream");
  get<Handle>(handle).stream = stream;
  return 0;
}

VEELINE_STANDIN int cudnnCreateTensorDescriptor(api::TensorDesc *desc) {
  ENTER("cudnnCreateTensorDescriptor");
  *desc = reinterpret_cast<api::TensorDesc>(new Tensor());
  return 0;
}

VEELINE_STANDIN int cudnnDestroyTensorDescriptor(api::TensorDesc desc) {
  ENTER("cudnnDestroyTensorDescriptor");
  delete &get<Tensor>(desc);
  return 0;
}

VEELINE_STANDIN int cudnnSetTensorNdDescriptor(api::TensorDesc desc, int type,
                                               int rank, const int *sizes,
                                               const int *strides) {
  ENTER("cudnnSetTensorNdDescriptor");
  if (rank < minRank || rank > maxRank)
    return badParam;
  for (int i = 0; i < rank; ++i)
    if (sizes[i] < 1 || strides[i] < 1)
      return badParam;
  get<Tensor>(desc) = {type, List(sizes, sizes + rank),
                       List(strides, strides + rank)};
  return 0;
}

VEELINE_STANDIN int cudnnTransformTensor(api::DnnHandle handle,
                                         const void *alpha,
                                         api::TensorDesc sourceDesc,
                                         const void *source, const void *beta,
                                         api::TensorDesc targetDesc,
                                         void *target) {
  ENTER("cudnnTransformTensor");
  Tensor from = get<Tensor>(sourceDesc), to = get<Tensor>(targetDesc);
  // It converts no types.
  if (from.sizes != to.sizes || to.type != from.type)
    return badParam;
  if (from.sizes.size() > 5)
    return unsupportedShape;
  char *atFrom = findElements(source, from), *atTo = findElements(target, to);
  if (!isOne(alpha, beta) || !atFrom || !atTo)
    return badParam;
  standin::enqueue(get<Handle>(handle).stream, [=] {
    List at(from.sizes.size());
    int64_t width = standin::bytesOf(from.element());
    do
      std::memcpy(atTo + place(at, to.strides) * width,
                  atFrom + place(at, from.strides) * width, width);
    while (advance(at, from.sizes));
  });
  return 0;
}

VEELINE_STANDIN int cudnnCreateFilterDescriptor(api::FilterDesc *desc) {
  ENTER("cudnnCreateFilterDescriptor");
  *desc = reinterpret_cast<api::FilterDesc>(new Filter());
  return 0;
}

VEELINE_STANDIN int cudnnDestroyFilterDescriptor(api::FilterDesc desc) {
  ENTER("cudnnDestroyFilterDescriptor");
  delete &get<Filter>(desc);
  return 0;
}

VEELINE_STANDIN int cudnnSetFilterNdDescriptor(api::FilterDesc desc, int type,
                                               int format, int rank,
                                               const int *sizes) {
  ENTER("cudnnSetFilterNdDescriptor");
  if (rank < minRank || rank > maxRank ||
      (format != api::formatNchw && format != api::formatNhwc))
    return badParam;
  get<Filter>(desc) = {type, format, List(sizes, sizes + rank)};
  return 0;
}

VEELINE_STANDIN int
cudnnCreateConvolutionDescriptor(api::ConvolutionDesc *desc) {
  ENTER("cudnnCreateConvolutionDescriptor");
  *desc = reinterpret_cast<api::ConvolutionDesc>(new Convolution());
  return 0;
}

VEELINE_STANDIN int
cudnnDestroyConvolutionDescriptor(api::ConvolutionDesc desc) {
  ENTER("cudnnDestroyConvolutionDescriptor");
  delete &get<Convolution>(desc);
  return 0;
}

VEELINE_STANDIN int cudnnSetConvolutionNdDescriptor(
    api::ConvolutionDesc desc, int rank, const int *padding, const int *strides,
    const int *dilations, int mode, int computeType) {
  ENTER("cudnnSetConvolutionNdDescriptor");
  for (int i = 0; i < rank; ++i)
    if (padding[i] < 0 || strides[i] < 1 || dilations[i] < 1)
      return badParam;
  auto &convolution = get<Convolution>(desc);
  convolution.padding = List(padding, padding + rank);
  convolution.strides = List(strides, strides + rank);
  convolution.dilations = List(dilations, dilations + rank);
  convolution.mode = mode;
  convolution.computeType = computeType;
  return 0;
}

VEELINE_STANDIN int cudnnSetConvolutionGroupCount(api::ConvolutionDesc desc,
                                                  int groups) {
  ENTER("cudnnSetConvolutionGroupCount");
  get<Convolution>(desc).groups = groups;
  return groups < 1 ? badParam : 0;
}

VEELINE_STANDIN int cudnnSetConvolutionMathType(api::ConvolutionDesc desc,
                                                int mathType) {
  ENTER("cudnnSetConvolutionMathType");
  get<Convolution>(desc).mathType = mathType;
  return 0;
}

VEELINE_STANDIN int cudnnGetConvolutionForwardAlgorithm_v7(
    api::DnnHandle, api::TensorDesc x, api::FilterDesc w,
    api::ConvolutionDesc desc, api::TensorDesc y, int requested, int *found,
    api::ConvolutionAlgo *algos) {
  ENTER("cudnnGetConvolutionForwardAlgorithm_v7");
  return listAlgorithms(get<Tensor>(x), get<Filter>(w), get<Tensor>(y),
                        get<Convolution>(desc), requested, found, algos);
}

VEELINE_STANDIN int cudnnGetConvolutionForwardWorkspaceSize(
    api::DnnHandle, api::TensorDesc x, api::FilterDesc w,
    api::ConvolutionDesc desc, api::TensorDesc y, int algo, size_t *bytes) {
  ENTER("cudnnGetConvolutionForwardWorkspaceSize");
  return measure(get<Tensor>(x), get<Filter>(w), get<Tensor>(y),
                 get<Convolution>(desc), algo, bytes);
}

VEELINE_STANDIN int cudnnConvolutionForward(
    api::DnnHandle handle, const void *alpha, api::TensorDesc xDesc,
    const void *x, api::FilterDesc wDesc, const void *w,
    api::ConvolutionDesc desc, int algo, void *workspace, size_t bytes,
    const void *beta, api::TensorDesc yDesc, void *y) {
  ENTER("cudnnConvolutionForward");
  return convolve(Kind::forward, handle, alpha, xDesc, x, wDesc, w, yDesc, y,
                  desc, algo, workspace, bytes, beta);
}

VEELINE_STANDIN int cudnnGetConvolutionBackwardDataAlgorithm_v7(
    api::DnnHandle, api::FilterDesc w, api::TensorDesc y,
    api::ConvolutionDesc desc, api::TensorDesc x, int requested, int *found,
    api::ConvolutionAlgo *algos) {
  ENTER("cudnnGetConvolutionBackwardDataAlgorithm_v7");
  return listAlgorithms(get<Tensor>(x), get<Filter>(w), get<Tensor>(y),
                        get<Convolution>(desc), requested, found, algos);
}

VEELINE_STANDIN int cudnnGetConvolutionBackwardDataWorkspaceSize(
    api::DnnHandle, api::FilterDesc w, api::TensorDesc y,
    api::ConvolutionDesc desc, api::TensorDesc x, int algo, size_t *bytes) {
  ENTER("cudnnGetConvolutionBackwardDataWorkspaceSize");
  return measure(get<Tensor>(x), get<Filter>(w), get<Tensor>(y),
                 get<Convolution>(desc), algo, bytes);
}

VEELINE_STANDIN int cudnnConvolutionBackwardData(
    api::DnnHandle handle, const void *alpha, api::FilterDesc wDesc,
    const void *w, api::TensorDesc yDesc, const void *y,
    api::ConvolutionDesc desc, int algo, void *workspace, size_t bytes,
    const void *beta, api::TensorDesc xDesc, void *x) {
  ENTER("cudnnConvolutionBackwardData");
  return convolve(Kind::backwardData, handle, alpha, xDesc, x, wDesc, w, yDesc,
                  y, desc, algo, workspace, bytes, beta);
}

VEELINE_STANDIN int cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    api::DnnHandle, api::TensorDesc x, api::TensorDesc y,
    api::ConvolutionDesc desc, api::FilterDesc w, int requested, int *found,
    api::ConvolutionAlgo *algos) {
  ENTER("cudnnGetConvolutionBackwardFilterAlgorithm_v7");
  return listAlgorithms(get<Tensor>(x), get<Filter>(w), get<Tensor>(y),
                        get<Convolution>(desc), requested, found, algos);
}

VEELINE_STANDIN int cudnnGetConvolutionBackwardFilterWorkspaceSize(
    api::DnnHandle, api::TensorDesc x, api::TensorDesc y,
    api::ConvolutionDesc desc, api::FilterDesc w, int algo, size_t *bytes) {
  ENTER("cudnnGetConvolutionBackwardFilterWorkspaceSize");
  return measure(get<Tensor>(x), get<Filter>(w), get<Tensor>(y),
                 get<Convolution>(desc), algo, bytes);
}

VEELINE_STANDIN int cudnnConvolutionBackwardFilter(
    api::DnnHandle handle, const void *alpha, api::TensorDesc xDesc,
    const void *x, api::TensorDesc yDesc, const void *y,
    api::ConvolutionDesc desc, int algo, void *workspace, size_t bytes,
    const void *beta, api::FilterDesc wDesc, void *w) {
  ENTER("cudnnConvolutionBackwardFilter");
  return convolve(Kind::backwardFilter, handle, alpha, xDesc, x, wDesc, w,
                  yDesc, y, desc, algo, workspace, bytes, beta);
}

} // extern "C"
