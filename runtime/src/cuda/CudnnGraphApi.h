//===- CudnnGraphApi.h - our declarations of cuDNN's graphs -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDNNGRAPHAPI_H
#define VEELINE_RUNTIME_CUDA_CUDNNGRAPHAPI_H

#include "CudnnApi.h"

namespace veeline::cuda::api {

using BackendDesc = void *; ///< cudnnBackendDescriptor_t

/// cuDNN's compiler has refused a kernel that cuDNN wrote for an engine.
inline constexpr DnnStatus dnnCompilationFailed = 4001;

// cudnnDataType_t
inline constexpr int dnnInt32 = 4, dnnBoolean = 11;

/// cudnnBackendDescriptorType_t
namespace backend {
inline constexpr int pointwise = 0, engine = 2, engineConfig = 3,
                     heuristics = 4, plan = 5, pointwiseOperation = 13,
                     graph = 15, variantPack = 16, tensor = 17, matmul = 18,
                     matmulOperation = 19, reduction = 21,
                     reductionOperation = 22, reshapeOperation = 31,
                     deviceProperties = 38;
} // namespace backend

/// cudnnBackendAttributeType_t
namespace attribute_type {
inline constexpr int handle = 0, dataType = 1, boolean = 2, int64 = 3,
                     pointer = 6, heuristicsMode = 8, numericalNote = 11,
                     pointwiseMode = 14, descriptor = 15,
                     reductionOperator = 18, character = 24;
} // namespace attribute_type

/// cudnnBackendAttributeName_t
namespace attribute {
inline constexpr int pointwiseMode = 0, pointwiseCompute = 1, pointwiseAxis = 9,
                     heuristicsMode = 200, heuristicsGraph = 201,
                     heuristicsResults = 202, heuristicsDevice = 204,
                     configEngine = 300, planHandle = 400, planConfig = 401,
                     planWorkspace = 402, planDevice = 407, pointwiseDesc = 750,
                     pointwiseX = 751, pointwiseB = 752, pointwiseY = 753,
                     pointwiseT = 758, graphHandle = 800, graphOperations = 801,
                     tensorAlignment = 900, tensorType = 901, tensorSizes = 902,
                     tensorStrides = 903, tensorId = 906, tensorIsVirtual = 907,
                     tensorIsByValue = 908, packIds = 1000, packPointers = 1001,
                     packWorkspace = 1003, engineNotes = 1303,
                     matmulCompute = 1500, matmulA = 1520, matmulB = 1521,
                     matmulC = 1522, matmulDesc = 1523,
                     reductionOperator = 1600, reductionCompute = 1601,
                     reductionX = 1610, reductionY = 1611, reductionDesc = 1612,
                     reshapeX = 2200, reshapeY = 2201, deviceJson = 2702;
} // namespace attribute

// cudnnPointwiseMode_t
inline constexpr int pointwiseAdd = 0, pointwiseMul = 1, pointwiseDiv = 6,
                     pointwiseSub = 9, pointwiseExp = 13, pointwiseLog = 15,
                     pointwiseIdentity = 21, pointwiseCompareGe = 303,
                     pointwiseIndex = 501, pointwiseSelect = 601;
// cudnnReduceTensorOp_t
inline constexpr int reduceAdd = 0, reduceMax = 3;
// cudnnBackendHeurMode_t
inline constexpr int heuristicsFallback = 2, heuristicsBest = 3;
// cudnnBackendNumericalNote_t
inline constexpr int noteNondeterministic = 4, maxNotes = 32;

} // namespace veeline::cuda::api

/// X(type, name, parameters) for each function. A graph consists of
/// descriptors, whose attributes have numbers as names.
#define VEELINE_CUDNN_GRAPH_FUNCTIONS(X)                                       \
  X(api::DnnStatus, cudnnBackendCreateDescriptor,                              \
    (int type, api::BackendDesc *desc))                                        \
  X(api::DnnStatus, cudnnBackendDestroyDescriptor, (api::BackendDesc desc))    \
  X(api::DnnStatus, cudnnBackendFinalize, (api::BackendDesc desc))             \
  X(api::DnnStatus, cudnnBackendSetAttribute,                                  \
    (api::BackendDesc desc, int name, int type, int64_t count,                 \
     const void *values))                                                      \
  X(api::DnnStatus, cudnnBackendGetAttribute,                                  \
    (api::BackendDesc desc, int name, int type, int64_t requested,             \
     int64_t *count, void *values))                                            \
  X(api::DnnStatus, cudnnBackendExecute,                                       \
    (api::DnnHandle handle, api::BackendDesc plan, api::BackendDesc pack))

#endif // VEELINE_RUNTIME_CUDA_CUDNNGRAPHAPI_H
