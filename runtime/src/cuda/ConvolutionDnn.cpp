//===- ConvolutionDnn.cpp - convolutions of a rank, by cuDNN --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionDnn.h"

#include <algorithm>
#include <array>

using namespace veeline;
using namespace veeline::cuda;
using artifact::Convolution;
using artifact::ConvolutionKind;

/// The maximal number of algorithms that cuDNN is asked for. It has fewer.
static constexpr int maxAlgorithms = 16;

static const float one = 1, zero = 0;

// For messages, by kind.
static constexpr const char *heuristicsNames[] = {
    "cudnnGetConvolutionForwardAlgorithm_v7",
    "cudnnGetConvolutionBackwardDataAlgorithm_v7",
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7"};
static constexpr const char *workspaceNames[] = {
    "cudnnGetConvolutionForwardWorkspaceSize",
    "cudnnGetConvolutionBackwardDataWorkspaceSize",
    "cudnnGetConvolutionBackwardFilterWorkspaceSize"};

ConvolutionTable::~ConvolutionTable() {
  if (!dnn)
    return;
  auto drop = [&](api::TensorDesc desc) {
    if (desc)
      (void)dnn->cudnnDestroyTensorDescriptor(desc);
  };
  for (Entry &entry : entries) {
    for (api::TensorDesc desc :
         {entry.x, entry.y, entry.copyOfX.given, entry.copyOfX.copied,
          entry.copyOfW.given, entry.copyOfW.copied})
      drop(desc);
    if (entry.w)
      (void)dnn->cudnnDestroyFilterDescriptor(entry.w);
    if (entry.desc)
      (void)dnn->cudnnDestroyConvolutionDescriptor(entry.desc);
  }
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status ConvolutionTable::prepare(const Driver &newDriver,
                                 DnnContext *newContext,
                                 const std::vector<Convolution> &convolutions,
                                 void *library, int64_t libraryBytes,
                                 api::Stream newStream) {
  entries.resize(convolutions.size());
  if (!newContext)
    return Status::success();
  driver = &newDriver;
  context = newContext;
  dnn = &context->dnn();
  handle = context->get();
  stream = newStream;
  VEELINE_TRY(context->setStream(stream));
  for (size_t i = 0; i < convolutions.size(); ++i)
    if (Status status =
            prepare(convolutions[i], library, libraryBytes, entries[i]);
        !status.ok())
      return refuse("convolution " + std::to_string(i), status.message());
  return Status::success();
}

DnnResult ConvolutionTable::makeTensor(const DnnTensor &tensor, int dataType,
                                       api::TensorDesc &desc) {
  VEELINE_DNN_TRY(VEELINE_DNN_CALL(*dnn, cudnnCreateTensorDescriptor, &desc));
  return VEELINE_DNN_CALL(*dnn, cudnnSetTensorNdDescriptor, desc, dataType,
                          static_cast<int>(tensor.sizes.size()),
                          tensor.sizes.data(), tensor.strides.data());
}

DnnResult ConvolutionTable::makeCopy(const std::optional<DnnCopy> &plan,
                                     const DnnTypes &types, Copy &copy) {
  if (!plan)
    return {};
  copy.isUsed = true;
  copy.plan = *plan;
  copy.width = artifact::byteSize(types.type);
  int64_t elements = 1;
  for (int size : plan->copied.sizes)
    elements *= size;
  copy.isZeroed = elements * copy.width < plan->bytes;
  VEELINE_DNN_TRY(makeTensor(plan->given, types.dataType, copy.given));
  return makeTensor(plan->copied, types.dataType, copy.copied);
}

DnnResult ConvolutionTable::describe(const DnnConvolution &plan, Entry &entry) {
  const DnnTypes &types = *plan.types;
  VEELINE_DNN_TRY(makeTensor(plan.x, types.dataType, entry.x));
  VEELINE_DNN_TRY(makeTensor(plan.y, types.dataType, entry.y));
  VEELINE_DNN_TRY(
      VEELINE_DNN_CALL(*dnn, cudnnCreateFilterDescriptor, &entry.w));
  VEELINE_DNN_TRY(VEELINE_DNN_CALL(
      *dnn, cudnnSetFilterNdDescriptor, entry.w, types.dataType,
      plan.isChannelsLast ? api::formatNhwc : api::formatNchw,
      static_cast<int>(plan.wSizes.size()), plan.wSizes.data()));
  VEELINE_DNN_TRY(
      VEELINE_DNN_CALL(*dnn, cudnnCreateConvolutionDescriptor, &entry.desc));
  VEELINE_DNN_TRY(VEELINE_DNN_CALL(
      *dnn, cudnnSetConvolutionNdDescriptor, entry.desc,
      static_cast<int>(plan.padding.size()), plan.padding.data(),
      plan.strides.data(), plan.dilations.data(), api::crossCorrelation,
      api::dnnFloat));
  VEELINE_DNN_TRY(VEELINE_DNN_CALL(*dnn, cudnnSetConvolutionGroupCount,
                                   entry.desc, plan.groups));
  VEELINE_DNN_TRY(VEELINE_DNN_CALL(*dnn, cudnnSetConvolutionMathType,
                                   entry.desc, types.mathType));
  VEELINE_DNN_TRY(makeCopy(plan.copyOfX, types, entry.copyOfX));
  return makeCopy(plan.copyOfW, types, entry.copyOfW);
}

api::DnnStatus
ConvolutionTable::findAlgorithms(const Entry &entry, int *found,
                                 api::ConvolutionAlgo *algos) const {
  switch (entry.kind) {
  case ConvolutionKind::forward:
    return dnn->cudnnGetConvolutionForwardAlgorithm_v7(
        handle, entry.x, entry.w, entry.desc, entry.y, maxAlgorithms, found,
        algos);
  case ConvolutionKind::backwardData:
    return dnn->cudnnGetConvolutionBackwardDataAlgorithm_v7(
        handle, entry.w, entry.y, entry.desc, entry.x, maxAlgorithms, found,
        algos);
  case ConvolutionKind::backwardWeights:
    break;
  }
  return dnn->cudnnGetConvolutionBackwardFilterAlgorithm_v7(
      handle, entry.x, entry.y, entry.desc, entry.w, maxAlgorithms, found,
      algos);
}

api::DnnStatus ConvolutionTable::measure(const Entry &entry, int algo,
                                         size_t *bytes) const {
  switch (entry.kind) {
  case ConvolutionKind::forward:
    return dnn->cudnnGetConvolutionForwardWorkspaceSize(
        handle, entry.x, entry.w, entry.desc, entry.y, algo, bytes);
  case ConvolutionKind::backwardData:
    return dnn->cudnnGetConvolutionBackwardDataWorkspaceSize(
        handle, entry.w, entry.y, entry.desc, entry.x, algo, bytes);
  case ConvolutionKind::backwardWeights:
    break;
  }
  return dnn->cudnnGetConvolutionBackwardFilterWorkspaceSize(
      handle, entry.x, entry.y, entry.desc, entry.w, algo, bytes);
}

/// The heuristics list the fastest algorithm first.
Status ConvolutionTable::choose(const Entry &entry, size_t limit, int &algo,
                                size_t &bytes, bool &isFound) {
  std::array<api::ConvolutionAlgo, maxAlgorithms> algos = {};
  int found = 0;
  api::DnnStatus status = findAlgorithms(entry, &found, algos.data());
  if (isUnsupported(status))
    return Status::success();
  auto kind = static_cast<size_t>(entry.kind);
  VEELINE_TRY(dnn->check(heuristicsNames[kind], status));
  for (int i = 0; i < found && !isFound; ++i) {
    const api::ConvolutionAlgo &candidate = algos[i];
    if (candidate.status != api::dnnSuccess ||
        candidate.determinism != api::deterministic)
      continue;
    status = measure(entry, candidate.algo, &bytes);
    if (isUnsupported(status))
      continue;
    VEELINE_TRY(dnn->check(workspaceNames[kind], status));
    algo = candidate.algo;
    isFound = bytes <= limit;
  }
  return Status::success();
}

/// Finds out whether cuDNN copies elements of this type, which its
/// documentation does not say for small floats. For that, copies two elements
/// within `library`. If cuDNN refuses, it does so before it does anything.
Status ConvolutionTable::tryCopy(int dataType, void *library,
                                 int64_t libraryBytes, bool &works) {
  const DnnTensor row{{1, 2, 1, 1}, {2, 1, 1, 1}};
  const DnnTensor gaps{{1, 2, 1, 1}, {16, 8, 1, 1}};
  constexpr int64_t apart = 256;
  works = false;
  if (libraryBytes < 2 * apart)
    return Status::success();
  api::TensorDesc from = nullptr, to = nullptr;
  DnnResult tried = makeTensor(row, dataType, from);
  if (tried.ok())
    tried = makeTensor(gaps, dataType, to);
  if (tried.ok())
    tried = VEELINE_DNN_CALL(*dnn, cudnnTransformTensor, handle, &one, from,
                             library, &zero, to,
                             static_cast<char *>(library) + apart);
  works = tried.ok();
  for (api::TensorDesc desc : {from, to})
    if (desc)
      (void)dnn->cudnnDestroyTensorDescriptor(desc);
  return tried.isUnsupported() ? Status::success() : dnn->check(tried);
}

/// Finds out whether cuDNN copies elements of the types. Tries each type other
/// than f32 once.
Status ConvolutionTable::canCopy(const DnnTypes &types, void *library,
                                 int64_t libraryBytes, bool &works) {
  works = types.type == artifact::DataType::f32;
  if (works)
    return Status::success();
  auto [it, isNew] = copies.try_emplace(types.dataType, false);
  if (isNew)
    VEELINE_TRY(tryCopy(types.dataType, library, libraryBytes, it->second));
  works = it->second;
  return Status::success();
}

Status ConvolutionTable::prepare(const Convolution &convolution, void *library,
                                 int64_t libraryBytes, Entry &entry) {
  std::optional<DnnConvolution> plan = planConvolution(convolution);
  // Our artifacts have scratch memory for the copies; those of another compiler
  // may not.
  if (!plan || plan->scratchBytes > convolution.scratchBytes)
    return Status::success();
  if (plan->copyOfX || plan->copyOfW) {
    bool works = false;
    VEELINE_TRY(canCopy(*plan->types, library, libraryBytes, works));
    if (!works)
      return Status::success();
  }
  entry.kind = convolution.kind;
  DnnResult described = describe(*plan, entry);
  if (described.isUnsupported())
    return Status::success();
  VEELINE_TRY(dnn->check(described));
  return choose(entry, static_cast<size_t>(libraryBytes), entry.algo,
                entry.workspaceBytes, entry.isThere);
}

size_t ConvolutionTable::countMissing() const {
  return static_cast<size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [](const Entry &entry) { return !entry.isThere; }));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status ConvolutionTable::transform(api::TensorDesc sourceDesc,
                                   const void *source,
                                   api::TensorDesc targetDesc, void *target) {
  return VEELINE_CALL(*dnn, cudnnTransformTensor, handle, &one, sourceDesc,
                      source, &zero, targetDesc, target);
}

/// The place to which the first element is copied.
char *ConvolutionTable::contentOf(const Copy &copy, char *place) {
  return place + copy.plan.firstElement * copy.width;
}

Status ConvolutionTable::fill(const Copy &copy, const void *given,
                              char *place) {
  if (copy.isZeroed)
    VEELINE_TRY(VEELINE_CALL(*driver, cuMemsetD8Async,
                             reinterpret_cast<api::DevicePointer>(place), 0,
                             static_cast<size_t>(copy.plan.bytes), stream));
  return transform(copy.given, given, copy.copied, contentOf(copy, place));
}

Status ConvolutionTable::convolve(const Entry &entry, void *x, void *w, void *y,
                                  void *workspace) {
  switch (entry.kind) {
  case ConvolutionKind::forward:
    return VEELINE_CALL(*dnn, cudnnConvolutionForward, handle, &one, entry.x, x,
                        entry.w, w, entry.desc, entry.algo, workspace,
                        entry.workspaceBytes, &zero, entry.y, y);
  case ConvolutionKind::backwardData:
    return VEELINE_CALL(*dnn, cudnnConvolutionBackwardData, handle, &one,
                        entry.w, w, entry.y, y, entry.desc, entry.algo,
                        workspace, entry.workspaceBytes, &zero, entry.x, x);
  case ConvolutionKind::backwardWeights:
    break;
  }
  return VEELINE_CALL(*dnn, cudnnConvolutionBackwardFilter, handle, &one,
                      entry.x, x, entry.y, y, entry.desc, entry.algo, workspace,
                      entry.workspaceBytes, &zero, entry.w, w);
}

Status ConvolutionTable::run(int32_t index, const void *a, const void *b,
                             void *c, void *scratch, void *library,
                             api::Stream newStream) {
  stream = newStream;
  VEELINE_TRY(context->setStream(stream));
  const Entry &entry = entries[index];
  bool givesX = entry.kind == ConvolutionKind::backwardData;
  bool givesW = entry.kind == ConvolutionKind::backwardWeights;
  // cuDNN writes only to the result.
  void *first = const_cast<void *>(a), *second = const_cast<void *>(b);
  void *givenX = givesX ? c : first, *x = givenX;
  void *givenW = givesW ? c : second, *w = givenW;
  void *y = givesX ? first : givesW ? second : c;
  if (entry.copyOfX.isUsed) {
    char *place = static_cast<char *>(scratch) + entry.copyOfX.plan.offset;
    if (!givesX)
      VEELINE_TRY(fill(entry.copyOfX, givenX, place));
    x = place;
  }
  if (entry.copyOfW.isUsed) {
    char *place = static_cast<char *>(scratch) + entry.copyOfW.plan.offset;
    if (!givesW)
      VEELINE_TRY(fill(entry.copyOfW, givenW, place));
    w = place;
  }
  VEELINE_TRY(convolve(entry, x, w, y, library));
  const Copy *copy = givesX   ? &entry.copyOfX
                     : givesW ? &entry.copyOfW
                              : nullptr;
  if (!copy || !copy->isUsed)
    return Status::success();
  char *place = static_cast<char *>(scratch) + copy->plan.offset;
  return transform(copy->copied, contentOf(*copy, place), copy->given, c);
}
