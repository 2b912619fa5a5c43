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
