//===- BlasLtApi.h - our declarations of cuBLASLt ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_BLASLTAPI_H
#define VEELINE_RUNTIME_CUDA_BLASLTAPI_H

#include "CudaApi.h"

#include <cstdint>

namespace veeline::cuda::api {

using BlasStatus = int; ///< cublasStatus_t
inline constexpr BlasStatus blasSuccess = 0, blasNotInitialized = 1,
                            blasNotSupported = 15;

using BlasHandle = struct OpaqueBlasHandle *;
using MatmulDesc = struct OpaqueMatmulDesc *;
using MatrixLayout = struct OpaqueMatrixLayout *;
using MatmulPreference = struct OpaqueMatmulPreference *;

struct MatmulAlgo {
  uint64_t data[8];
};
struct MatmulHeuristic {
  MatmulAlgo algo;
  size_t workspaceBytes;
  BlasStatus status;
  float waves;
  int reserved[4];
};

// cudaDataType_t
inline constexpr int real32F = 0, real64F = 1, real16F = 2, real16BF = 14;
// cublasComputeType_t
inline constexpr int compute32F = 68, compute32FFastTF32 = 77, compute64F = 70;
// cublasOperation_t
inline constexpr int operationN = 0, operationT = 1;
// cublasLtMatrixLayoutAttribute_t
inline constexpr int layoutBatchCount = 5, layoutBatchOffset = 6;
// cublasLtMatmulDescAttributes_t
inline constexpr int descTransA = 3, descTransB = 4, descEpilogue = 7,
                     descBiasPointer = 8, descAuxPointer = 11, descAuxLd = 12,
                     descAuxBatchStride = 13, descBiasType = 26;
// cublasLtMatmulPreferenceAttributes_t
inline constexpr int preferWorkspaceBytes = 1, preferReductions = 3,
                     preferAlignmentA = 5, preferAlignmentB = 6,
                     preferAlignmentC = 7, preferAlignmentD = 8;
// cublasLtReductionScheme_t
inline constexpr uint32_t reductionInPlace = 1, reductionComputeType = 2,
                          reductionOutputType = 4;
// cublasLtEpilogue_t
inline constexpr int epilogueDefault = 1, epilogueBias = 4, epilogueGelu = 32,
                     epilogueGeluBias = 36, epilogueGeluAux = 160,
                     epilogueGeluAuxBias = 164, epilogueDgelu = 192;

} // namespace veeline::cuda::api

/// X(type, name, parameters).
#define VEELINE_BLASLT_FUNCTIONS(X)                                            \
  X(size_t, cublasLtGetVersion, ())                                            \
  X(const char *, cublasLtGetStatusName, (api::BlasStatus status))             \
  X(const char *, cublasLtGetStatusString, (api::BlasStatus status))           \
  X(api::BlasStatus, cublasLtCreate, (api::BlasHandle * handle))               \
  X(api::BlasStatus, cublasLtDestroy, (api::BlasHandle handle))                \
  X(api::BlasStatus, cublasLtMatmulDescCreate,                                 \
    (api::MatmulDesc * desc, int computeType, int scaleType))                  \
  X(api::BlasStatus, cublasLtMatmulDescDestroy, (api::MatmulDesc desc))        \
  X(api::BlasStatus, cublasLtMatmulDescSetAttribute,                           \
    (api::MatmulDesc desc, int attribute, const void *value, size_t bytes))    \
  X(api::BlasStatus, cublasLtMatrixLayoutCreate,                               \
    (api::MatrixLayout * layout, int type, uint64_t rows, uint64_t columns,    \
     int64_t leadingDimension))                                                \
  X(api::BlasStatus, cublasLtMatrixLayoutDestroy, (api::MatrixLayout layout))  \
  X(api::BlasStatus, cublasLtMatrixLayoutSetAttribute,                         \
    (api::MatrixLayout layout, int attribute, const void *value,               \
     size_t bytes))                                                            \
  X(api::BlasStatus, cublasLtMatmulPreferenceCreate,                           \
    (api::MatmulPreference * preference))                                      \
  X(api::BlasStatus, cublasLtMatmulPreferenceDestroy,                          \
    (api::MatmulPreference preference))                                        \
  X(api::BlasStatus, cublasLtMatmulPreferenceSetAttribute,                     \
    (api::MatmulPreference preference, int attribute, const void *value,       \
     size_t bytes))                                                            \
  X(api::BlasStatus, cublasLtMatmulAlgoGetHeuristic,                           \
    (api::BlasHandle handle, api::MatmulDesc desc, api::MatrixLayout a,        \
     api::MatrixLayout b, api::MatrixLayout c, api::MatrixLayout d,            \
     api::MatmulPreference preference, int requested,                          \
     api::MatmulHeuristic *results, int *found))                               \
  X(api::BlasStatus, cublasLtMatmul,                                           \
    (api::BlasHandle handle, api::MatmulDesc desc, const void *alpha,          \
     const void *a, api::MatrixLayout aLayout, const void *b,                  \
     api::MatrixLayout bLayout, const void *beta, const void *c,               \
     api::MatrixLayout cLayout, void *d, api::MatrixLayout dLayout,            \
     const api::MatmulAlgo *algo, void *workspace, size_t workspaceBytes,      \
     api::Stream stream))

#endif // VEELINE_RUNTIME_CUDA_BLASLTAPI_H
