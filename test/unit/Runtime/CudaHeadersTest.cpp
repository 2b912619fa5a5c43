//===- CudaHeadersTest.cpp - what we declare of CUDA, and CUDA ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled where CUDA's headers are; it has nothing to run.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Nccl.h"
#include "SameCall.h"

#include <cublasLt.h>
#include <cuda.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <type_traits>

#ifdef cuEventElapsedTime
// Since CUDA 12.8 a header renames it to what older drivers do not have.
#undef cuEventElapsedTime
extern "C" decltype(cuEventElapsedTime_v2) cuEventElapsedTime;
#endif

using veeline::test::isSameCall;
namespace api = veeline::cuda::api;

static_assert(isSameCall<int (*)(char *), CUresult (*)(void *)>);
static_assert(!isSameCall<int (*)(char *), int (*)(char *, int)>);
static_assert(!isSameCall<int (*)(int64_t), int (*)(int)>);
static_assert(!isSameCall<int (*)(float), int (*)(int)>);

#define CHECK_CALL(name, parameters)                                           \
  static_assert(                                                               \
      isSameCall<decltype(veeline::cuda::Driver::name), decltype(&::name)>,    \
      #name);
VEELINE_CUDA_FUNCTIONS(CHECK_CALL)
VEELINE_CUDA_LATER_FUNCTIONS(CHECK_CALL)
#undef CHECK_CALL
#define CHECK_CALL(type, name, parameters)                                     \
  static_assert(                                                               \
      isSameCall<decltype(veeline::cuda::BlasLt::name), decltype(&::name)>,    \
      #name);
VEELINE_BLASLT_FUNCTIONS(CHECK_CALL)
#undef CHECK_CALL

#define CHECK_CALL(type, name, parameters)                                     \
  static_assert(                                                               \
      isSameCall<decltype(veeline::cuda::Nccl::name), decltype(&::name)>,      \
      #name);
VEELINE_NCCL_FUNCTIONS(CHECK_CALL)
#undef CHECK_CALL

#define ERROR(name, code) static_assert(name == code);
VEELINE_NCCL_ERRORS(ERROR)
#include "BlasErrors.inc"
#include "CudaErrors.inc"
#undef ERROR

static_assert(api::success == CUDA_SUCCESS);
static_assert(api::outOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(api::stubLibrary == CUDA_ERROR_STUB_LIBRARY);
static_assert(api::noDevice == CUDA_ERROR_NO_DEVICE);
static_assert(api::notReady == CUDA_ERROR_NOT_READY);
static_assert(api::computeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(api::computeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(api::maxDynamicSharedBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(api::jitErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
static_assert(api::jitErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(api::nonBlockingStream == CU_STREAM_NON_BLOCKING);
static_assert(api::disableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(api::captureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(std::is_same_v<api::DevicePointer, CUdeviceptr>);

static_assert(api::blasSuccess == CUBLAS_STATUS_SUCCESS);
static_assert(api::blasNotInitialized == CUBLAS_STATUS_NOT_INITIALIZED);
static_assert(api::blasNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(api::real32F == CUDA_R_32F && api::real64F == CUDA_R_64F &&
              api::real16F == CUDA_R_16F && api::real16BF == CUDA_R_16BF);
static_assert(api::compute32F == CUBLAS_COMPUTE_32F &&
              api::compute32FFastTF32 == CUBLAS_COMPUTE_32F_FAST_TF32 &&
              api::compute64F == CUBLAS_COMPUTE_64F);
static_assert(api::operationN == CUBLAS_OP_N && api::operationT == CUBLAS_OP_T);
static_assert(api::layoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              api::layoutBatchOffset ==
                  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(api::descTransA == CUBLASLT_MATMUL_DESC_TRANSA &&
              api::descTransB == CUBLASLT_MATMUL_DESC_TRANSB &&
              api::descEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE &&
              api::descBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER &&
              api::descAuxPointer ==
                  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER &&
              api::descAuxLd == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD &&
              api::descAuxBatchStride ==
                  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE &&
              api::descBiasType == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
static_assert(
    api::preferWorkspaceBytes == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
    api::preferReductions == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK &&
    api::reductionInPlace == CUBLASLT_REDUCTION_SCHEME_INPLACE &&
    api::reductionComputeType == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE &&
    api::reductionOutputType == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE &&
    CUBLASLT_REDUCTION_SCHEME_NONE == 0 &&
    api::preferAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
    api::preferAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES &&
    api::preferAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
    api::preferAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(api::epilogueDefault == CUBLASLT_EPILOGUE_DEFAULT &&
              api::epilogueBias == CUBLASLT_EPILOGUE_BIAS &&
              api::epilogueGelu == CUBLASLT_EPILOGUE_GELU &&
              api::epilogueGeluBias == CUBLASLT_EPILOGUE_GELU_BIAS &&
              api::epilogueGeluAux == CUBLASLT_EPILOGUE_GELU_AUX &&
              api::epilogueGeluAuxBias == CUBLASLT_EPILOGUE_GELU_AUX_BIAS &&
              api::epilogueDgelu == CUBLASLT_EPILOGUE_DGELU);

static_assert(sizeof(api::MatmulAlgo) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(api::MatmulHeuristic) ==
              sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(api::MatmulHeuristic, workspaceBytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(api::MatmulHeuristic, status) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(api::MatmulHeuristic, waves) ==
              offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

static_assert(sizeof(api::Uuid) == sizeof(CUuuid));

static_assert(api::ncclSuccess == ncclSuccess &&
              api::ncclInProgress == ncclInProgress);
static_assert(int(api::ncclSum) == int(::ncclSum));
static_assert(ncclNumResults == 8, "NCCL has a result that has no name here");
#define CHECK_TYPE(ours, name, number) static_assert(name == number);
VEELINE_NCCL_TYPES(CHECK_TYPE)
#undef CHECK_TYPE
static_assert(sizeof(api::UniqueId) == sizeof(ncclUniqueId));
// Ours is that of NCCL 2.18; later versions add fields at the end.
static_assert(sizeof(api::NcclConfig) <= sizeof(ncclConfig_t));
#define CHECK_FIELD(ours, theirs)                                              \
  static_assert(offsetof(api::NcclConfig, ours) ==                             \
                offsetof(ncclConfig_t, theirs));
CHECK_FIELD(size, size)
CHECK_FIELD(magic, magic)
CHECK_FIELD(version, version)
CHECK_FIELD(blocking, blocking)
CHECK_FIELD(cgaClusterSize, cgaClusterSize)
CHECK_FIELD(minCtas, minCTAs)
CHECK_FIELD(maxCtas, maxCTAs)
CHECK_FIELD(netName, netName)
CHECK_FIELD(splitShare, splitShare)
#undef CHECK_FIELD
static_assert(NCCL_CONFIG_UNDEF_INT == INT_MIN);

/// NCCL's own initialiser begins with the same values.
TEST(CudaHeaders, ConfigOfNccl) {
  ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  api::NcclConfig ours;
  EXPECT_EQ(ours.magic, theirs.magic);
  EXPECT_EQ(ours.netName, theirs.netName);
  EXPECT_EQ(ours.blocking, theirs.blocking);
}

TEST(CudaHeaders, AgreeWithOurs) {}
