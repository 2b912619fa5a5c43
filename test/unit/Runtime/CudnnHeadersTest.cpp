//===- CudnnHeadersTest.cpp - what we declare of cuDNN, and cuDNN ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled where cuDNN's headers are; it has nothing to run.
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"
#include "SameCall.h"

#include <cudnn.h>
#include <gtest/gtest.h>

using veeline::test::isSameCall;
namespace api = veeline::cuda::api;

#define CHECK_CALL(type, name, parameters)                                     \
  static_assert(                                                               \
      isSameCall<decltype(veeline::cuda::Cudnn::name), decltype(&::name)>,     \
      #name);
VEELINE_CUDNN_FUNCTIONS(CHECK_CALL)
VEELINE_CUDNN_GRAPH_FUNCTIONS(CHECK_CALL)
#undef CHECK_CALL

#define ERROR(name, code) static_assert(name == code);
#include "DnnErrors.inc"
#undef ERROR

static_assert(api::dnnSuccess == CUDNN_STATUS_SUCCESS);
static_assert(api::dnnNotSupported == CUDNN_STATUS_NOT_SUPPORTED);
static_assert(api::dnnInternalError == CUDNN_STATUS_INTERNAL_ERROR);
static_assert(api::dnnFloat == CUDNN_DATA_FLOAT &&
              api::dnnHalf == CUDNN_DATA_HALF &&
              api::dnnBfloat16 == CUDNN_DATA_BFLOAT16);
static_assert(api::defaultMath == CUDNN_DEFAULT_MATH &&
              api::tensorOpMath == CUDNN_TENSOR_OP_MATH &&
              api::fmaMath == CUDNN_FMA_MATH);
static_assert(api::formatNchw == CUDNN_TENSOR_NCHW &&
              api::formatNhwc == CUDNN_TENSOR_NHWC);
static_assert(api::crossCorrelation == CUDNN_CROSS_CORRELATION);
static_assert(api::deterministic == CUDNN_DETERMINISTIC);

static_assert(api::dnnCompilationFailed ==
              CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED);
static_assert(api::dnnInt32 == CUDNN_DATA_INT32 &&
              api::dnnBoolean == CUDNN_DATA_BOOLEAN);

#define DESCRIPTOR(ours, theirs)                                               \
  static_assert(api::backend::ours == CUDNN_BACKEND_##theirs##_DESCRIPTOR);
DESCRIPTOR(pointwise, POINTWISE)
DESCRIPTOR(engine, ENGINE)
DESCRIPTOR(engineConfig, ENGINECFG)
DESCRIPTOR(heuristics, ENGINEHEUR)
DESCRIPTOR(plan, EXECUTION_PLAN)
DESCRIPTOR(pointwiseOperation, OPERATION_POINTWISE)
DESCRIPTOR(graph, OPERATIONGRAPH)
DESCRIPTOR(variantPack, VARIANT_PACK)
DESCRIPTOR(tensor, TENSOR)
DESCRIPTOR(matmul, MATMUL)
DESCRIPTOR(matmulOperation, OPERATION_MATMUL)
DESCRIPTOR(reduction, REDUCTION)
DESCRIPTOR(reductionOperation, OPERATION_REDUCTION)
DESCRIPTOR(reshapeOperation, OPERATION_RESHAPE)
#undef DESCRIPTOR

#define TYPE(ours, theirs)                                                     \
  static_assert(api::attribute_type::ours == CUDNN_TYPE_##theirs);
TYPE(handle, HANDLE)
TYPE(dataType, DATA_TYPE)
TYPE(boolean, BOOLEAN)
TYPE(int64, INT64)
TYPE(pointer, VOID_PTR)
TYPE(heuristicsMode, HEUR_MODE)
TYPE(numericalNote, NUMERICAL_NOTE)
TYPE(pointwiseMode, POINTWISE_MODE)
TYPE(descriptor, BACKEND_DESCRIPTOR)
TYPE(reductionOperator, REDUCTION_OPERATOR_TYPE)
TYPE(character, CHAR)
#undef TYPE

#define ATTRIBUTE(ours, theirs)                                                \
  static_assert(api::attribute::ours == CUDNN_ATTR_##theirs);
ATTRIBUTE(pointwiseMode, POINTWISE_MODE)
ATTRIBUTE(pointwiseCompute, POINTWISE_MATH_PREC)
ATTRIBUTE(pointwiseAxis, POINTWISE_AXIS)
ATTRIBUTE(heuristicsMode, ENGINEHEUR_MODE)
ATTRIBUTE(heuristicsGraph, ENGINEHEUR_OPERATION_GRAPH)
ATTRIBUTE(heuristicsResults, ENGINEHEUR_RESULTS)
ATTRIBUTE(configEngine, ENGINECFG_ENGINE)
ATTRIBUTE(planHandle, EXECUTION_PLAN_HANDLE)
ATTRIBUTE(planConfig, EXECUTION_PLAN_ENGINE_CONFIG)
ATTRIBUTE(planWorkspace, EXECUTION_PLAN_WORKSPACE_SIZE)
ATTRIBUTE(pointwiseDesc, OPERATION_POINTWISE_PW_DESCRIPTOR)
ATTRIBUTE(pointwiseX, OPERATION_POINTWISE_XDESC)
ATTRIBUTE(pointwiseB, OPERATION_POINTWISE_BDESC)
ATTRIBUTE(pointwiseY, OPERATION_POINTWISE_YDESC)
ATTRIBUTE(pointwiseT, OPERATION_POINTWISE_TDESC)
ATTRIBUTE(graphHandle, OPERATIONGRAPH_HANDLE)
ATTRIBUTE(graphOperations, OPERATIONGRAPH_OPS)
ATTRIBUTE(tensorAlignment, TENSOR_BYTE_ALIGNMENT)
ATTRIBUTE(tensorType, TENSOR_DATA_TYPE)
ATTRIBUTE(tensorSizes, TENSOR_DIMENSIONS)
ATTRIBUTE(tensorStrides, TENSOR_STRIDES)
ATTRIBUTE(tensorId, TENSOR_UNIQUE_ID)
ATTRIBUTE(tensorIsVirtual, TENSOR_IS_VIRTUAL)
ATTRIBUTE(tensorIsByValue, TENSOR_IS_BY_VALUE)
ATTRIBUTE(packIds, VARIANT_PACK_UNIQUE_IDS)
ATTRIBUTE(packPointers, VARIANT_PACK_DATA_POINTERS)
ATTRIBUTE(packWorkspace, VARIANT_PACK_WORKSPACE)
ATTRIBUTE(engineNotes, ENGINE_NUMERICAL_NOTE)
ATTRIBUTE(matmulCompute, MATMUL_COMP_TYPE)
ATTRIBUTE(matmulA, OPERATION_MATMUL_ADESC)
ATTRIBUTE(matmulB, OPERATION_MATMUL_BDESC)
ATTRIBUTE(matmulC, OPERATION_MATMUL_CDESC)
ATTRIBUTE(matmulDesc, OPERATION_MATMUL_DESC)
ATTRIBUTE(reductionOperator, REDUCTION_OPERATOR)
ATTRIBUTE(reductionCompute, REDUCTION_COMP_TYPE)
ATTRIBUTE(reductionX, OPERATION_REDUCTION_XDESC)
ATTRIBUTE(reductionY, OPERATION_REDUCTION_YDESC)
ATTRIBUTE(reductionDesc, OPERATION_REDUCTION_DESC)
ATTRIBUTE(reshapeX, OPERATION_RESHAPE_XDESC)
ATTRIBUTE(reshapeY, OPERATION_RESHAPE_YDESC)
#undef ATTRIBUTE

static_assert(api::pointwiseAdd == CUDNN_POINTWISE_ADD &&
              api::pointwiseMul == CUDNN_POINTWISE_MUL &&
              api::pointwiseDiv == CUDNN_POINTWISE_DIV &&
              api::pointwiseSub == CUDNN_POINTWISE_SUB &&
              api::pointwiseExp == CUDNN_POINTWISE_EXP &&
              api::pointwiseLog == CUDNN_POINTWISE_LOG &&
              api::pointwiseIdentity == CUDNN_POINTWISE_IDENTITY &&
              api::pointwiseCompareGe == CUDNN_POINTWISE_CMP_GE &&
              api::pointwiseIndex == CUDNN_POINTWISE_GEN_INDEX &&
              api::pointwiseSelect == CUDNN_POINTWISE_BINARY_SELECT);
static_assert(api::reduceAdd == CUDNN_REDUCE_TENSOR_ADD &&
              api::reduceMax == CUDNN_REDUCE_TENSOR_MAX);
static_assert(api::heuristicsFallback == CUDNN_HEUR_MODE_FALLBACK &&
              api::heuristicsBest == CUDNN_HEUR_MODE_A);
static_assert(api::noteNondeterministic ==
                  CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC &&
              api::maxNotes >= CUDNN_NUMERICAL_NOTE_TYPE_COUNT);

// Of a GPU that is only described, since 9.8.
#if CUDNN_VERSION >= 90800
static_assert(api::backend::deviceProperties ==
              CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
static_assert(
    api::attribute::heuristicsDevice == CUDNN_ATTR_ENGINEHEUR_DEVICEPROP &&
    api::attribute::planDevice == CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP &&
    api::attribute::deviceJson == CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
#endif

/// All three kinds have the same answer of the heuristics.
template <typename Theirs> static constexpr bool isSameAlgo() {
  return sizeof(api::ConvolutionAlgo) == sizeof(Theirs) &&
         offsetof(api::ConvolutionAlgo, status) == offsetof(Theirs, status) &&
         offsetof(api::ConvolutionAlgo, workspaceBytes) ==
             offsetof(Theirs, memory) &&
         offsetof(api::ConvolutionAlgo, determinism) ==
             offsetof(Theirs, determinism) &&
         offsetof(api::ConvolutionAlgo, mathType) == offsetof(Theirs, mathType);
}
static_assert(isSameAlgo<cudnnConvolutionFwdAlgoPerf_t>());
static_assert(isSameAlgo<cudnnConvolutionBwdDataAlgoPerf_t>());
static_assert(isSameAlgo<cudnnConvolutionBwdFilterAlgoPerf_t>());

TEST(CudnnHeaders, AgreeWithOurs) {}
