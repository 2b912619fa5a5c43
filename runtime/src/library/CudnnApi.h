//===- CudnnApi.h - our declarations of cuDNN -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_CUDNNAPI_H
#define VEELINE_RUNTIME_LIBRARY_CUDNNAPI_H

#include "CudaApi.h"

namespace veeline::cuda::api {

using DnnStatus = int; ///< cudnnStatus_t
inline constexpr DnnStatus dnnSuccess = 0;
/// Statuses from the first, inclusive, to the second, exclusive, mean "not
/// supported".
inline constexpr DnnStatus dnnNotSupported = 3000, dnnInternalError = 4000;

using DnnHandle = struct OpaqueDnnHandle *;
using TensorDesc = struct OpaqueTensorDesc *;
using FilterDesc = struct OpaqueFilterDesc *;
using ConvolutionDesc = struct OpaqueConvolutionDesc *;

/// The result of the heuristics for an algorithm, for all three kinds of
/// convolutions.
struct ConvolutionAlgo {
  int algo;
  DnnStatus status;
  float time;
  size_t workspaceBytes;
  int determinism;
  int mathType;
  int reserved[3];
};

// cudnnDataType_t
inline constexpr int dnnFloat = 0, dnnHalf = 2, dnnBfloat16 = 9;
// cudnnMathType_t
inline constexpr int defaultMath = 0, tensorOpMath = 1, fmaMath = 3;
// cudnnTensorFormat_t
inline constexpr int formatNchw = 0, formatNhwc = 1;
// cudnnConvolutionMode_t
inline constexpr int crossCorrelation = 1;
// cudnnDeterminism_t
inline constexpr int deterministic = 1;

} // namespace veeline::cuda::api

/// X(type, name, parameters) for each function. Each of the three kinds of
/// convolutions has its own functions. They are deprecated since cuDNN 9, but
/// still exist.
#define VEELINE_CUDNN_FUNCTIONS(X)                                             \
  X(size_t, cudnnGetVersion, ())                                               \
  X(const char *, cudnnGetErrorString, (api::DnnStatus status))                \
  X(api::DnnStatus, cudnnCreate, (api::DnnHandle * handle))                    \
  X(api::DnnStatus, cudnnDestroy, (api::DnnHandle handle))                     \
  X(api::DnnStatus, cudnnSetStream,                                            \
    (api::DnnHandle handle, api::Stream stream))                               \
  X(api::DnnStatus, cudnnCreateTensorDescriptor, (api::TensorDesc * desc))     \
  X(api::DnnStatus, cudnnDestroyTensorDescriptor, (api::TensorDesc desc))      \
  X(api::DnnStatus, cudnnSetTensorNdDescriptor,                                \
    (api::TensorDesc desc, int type, int rank, const int *sizes,               \
     const int *strides))                                                      \
  X(api::DnnStatus, cudnnTransformTensor,                                      \
    (api::DnnHandle handle, const void *alpha, api::TensorDesc sourceDesc,     \
     const void *source, const void *beta, api::TensorDesc targetDesc,         \
     void *target))                                                            \
  X(api::DnnStatus, cudnnCreateFilterDescriptor, (api::FilterDesc * desc))     \
  X(api::DnnStatus, cudnnDestroyFilterDescriptor, (api::FilterDesc desc))      \
  X(api::DnnStatus, cudnnSetFilterNdDescriptor,                                \
    (api::FilterDesc desc, int type, int format, int rank, const int *sizes))  \
  X(api::DnnStatus, cudnnCreateConvolutionDescriptor,                          \
    (api::ConvolutionDesc * desc))                                             \
  X(api::DnnStatus, cudnnDestroyConvolutionDescriptor,                         \
    (api::ConvolutionDesc desc))                                               \
  X(api::DnnStatus, cudnnSetConvolutionNdDescriptor,                           \
    (api::ConvolutionDesc desc, int rank, const int *padding,                  \
     const int *strides, const int *dilations, int mode, int computeType))     \
  X(api::DnnStatus, cudnnSetConvolutionGroupCount,                             \
    (api::ConvolutionDesc desc, int groups))                                   \
  X(api::DnnStatus, cudnnSetConvolutionMathType,                               \
    (api::ConvolutionDesc desc, int mathType))                                 \
  X(api::DnnStatus, cudnnGetConvolutionForwardAlgorithm_v7,                    \
    (api::DnnHandle handle, api::TensorDesc x, api::FilterDesc w,              \
     api::ConvolutionDesc desc, api::TensorDesc y, int requested, int *found,  \
     api::ConvolutionAlgo *algos))                                             \
  X(api::DnnStatus, cudnnGetConvolutionForwardWorkspaceSize,                   \
    (api::DnnHandle handle, api::TensorDesc x, api::FilterDesc w,              \
     api::ConvolutionDesc desc, api::TensorDesc y, int algo, size_t *bytes))   \
  X(api::DnnStatus, cudnnConvolutionForward,                                   \
    (api::DnnHandle handle, const void *alpha, api::TensorDesc xDesc,          \
     const void *x, api::FilterDesc wDesc, const void *w,                      \
     api::ConvolutionDesc desc, int algo, void *workspace,                     \
     size_t workspaceBytes, const void *beta, api::TensorDesc yDesc, void *y)) \
  X(api::DnnStatus, cudnnGetConvolutionBackwardDataAlgorithm_v7,               \
    (api::DnnHandle handle, api::FilterDesc w, api::TensorDesc y,              \
     api::ConvolutionDesc desc, api::TensorDesc x, int requested, int *found,  \
     api::ConvolutionAlgo *algos))                                             \
  X(api::DnnStatus, cudnnGetConvolutionBackwardDataWorkspaceSize,              \
    (api::DnnHandle handle, api::FilterDesc w, api::TensorDesc y,              \
     api::ConvolutionDesc desc, api::TensorDesc x, int algo, size_t *bytes))   \
  X(api::DnnStatus, cudnnConvolutionBackwardData,                              \
    (api::DnnHandle handle, const void *alpha, api::FilterDesc wDesc,          \
     const void *w, api::TensorDesc yDesc, const void *y,                      \
     api::ConvolutionDesc desc, int algo, void *workspace,                     \
     size_t workspaceBytes, const void *beta, api::TensorDesc xDesc, void *x)) \
  X(api::DnnStatus, cudnnGetConvolutionBackwardFilterAlgorithm_v7,             \
    (api::DnnHandle handle, api::TensorDesc x, api::TensorDesc y,              \
     api::ConvolutionDesc desc, api::FilterDesc w, int requested, int *found,  \
     api::ConvolutionAlgo *algos))                                             \
  X(api::DnnStatus, cudnnGetConvolutionBackwardFilterWorkspaceSize,            \
    (api::DnnHandle handle, api::TensorDesc x, api::TensorDesc y,              \
     api::ConvolutionDesc desc, api::FilterDesc w, int algo, size_t *bytes))   \
  X(api::DnnStatus, cudnnConvolutionBackwardFilter,                            \
    (api::DnnHandle handle, const void *alpha, api::TensorDesc xDesc,          \
     const void *x, api::TensorDesc yDesc, const void *y,                      \
     api::ConvolutionDesc desc, int algo, void *workspace,                     \
     size_t workspaceBytes, const void *beta, api::FilterDesc wDesc, void *w))

#endif // VEELINE_RUNTIME_LIBRARY_CUDNNAPI_H
