//===- NcclApi.h - our declarations of NCCL ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_NCCLAPI_H
#define VEELINE_RUNTIME_CUDA_NCCLAPI_H

#include "CudaApi.h"

#include <climits>

/// X(name, number) for each ncclResult_t that is an error.
#define VEELINE_NCCL_ERRORS(X)                                                 \
  X(ncclUnhandledCudaError, 1)                                                 \
  X(ncclSystemError, 2)                                                        \
  X(ncclInternalError, 3)                                                      \
  X(ncclInvalidArgument, 4)                                                    \
  X(ncclInvalidUsage, 5)                                                       \
  X(ncclRemoteError, 6)

/// X(our type, name, number) for each type of elements, with its
/// ncclDataType_t. Types that NCCL lacks are sent as bytes: see ncclTypeOf.
#define VEELINE_NCCL_TYPES(X)                                                  \
  X(f32, ncclFloat32, 7)                                                       \
  X(f64, ncclFloat64, 8)                                                       \
  X(bf16, ncclBfloat16, 9)                                                     \
  X(f16, ncclFloat16, 6)                                                       \
  X(i1, ncclUint8, 1)                                                          \
  X(i8, ncclInt8, 0)                                                           \
  X(i16, ncclUint8, 1)                                                         \
  X(i32, ncclInt32, 2)                                                         \
  X(i64, ncclInt64, 4)

namespace veeline::cuda::api {

using NcclResult = int; ///< ncclResult_t
inline constexpr NcclResult ncclSuccess = 0, ncclInProgress = 7;
inline constexpr int ncclSum = 0; ///< ncclRedOp_t

using Comm = struct OpaqueComm *;
struct UniqueId {
  char internal[128];
};

/// ncclConfig_t of NCCL 2.18. Later versions determine the existing fields from
/// `size` and `version`.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = INT_MIN; ///< INT_MIN if not set.
  int cgaClusterSize = INT_MIN;
  int minCtas = INT_MIN;
  int maxCtas = INT_MIN;
  const char *netName = nullptr;
  int splitShare = INT_MIN;
};

} // namespace veeline::cuda::api

/// X(type, name, parameters).
#define VEELINE_NCCL_FUNCTIONS(X)                                              \
  X(api::NcclResult, ncclGetVersion, (int *version))                           \
  X(const char *, ncclGetErrorString, (api::NcclResult result))                \
  X(const char *, ncclGetLastError, (api::Comm comm))                          \
  X(api::NcclResult, ncclGetUniqueId, (api::UniqueId * id))                    \
  X(api::NcclResult, ncclCommInitRankConfig,                                   \
    (api::Comm * comm, int numRanks, api::UniqueId id, int rank,               \
     api::NcclConfig *config))                                                 \
  X(api::NcclResult, ncclCommFinalize, (api::Comm comm))                       \
  X(api::NcclResult, ncclCommDestroy, (api::Comm comm))                        \
  X(api::NcclResult, ncclCommAbort, (api::Comm comm))                          \
  X(api::NcclResult, ncclCommGetAsyncError,                                    \
    (api::Comm comm, api::NcclResult * state))                                 \
  X(api::NcclResult, ncclGroupStart, ())                                       \
  X(api::NcclResult, ncclGroupEnd, ())                                         \
  X(api::NcclResult, ncclSend,                                                 \
    (const void *place, size_t count, int type, int peer, api::Comm comm,      \
     api::Stream stream))                                                      \
  X(api::NcclResult, ncclRecv,                                                 \
    (void *place, size_t count, int type, int peer, api::Comm comm,            \
     api::Stream stream))                                                      \
  X(api::NcclResult, ncclAllReduce,                                            \
    (const void *send, void *receive, size_t count, int type, int operation,   \
     api::Comm comm, api::Stream stream))                                      \
  X(api::NcclResult, ncclReduceScatter,                                        \
    (const void *send, void *receive, size_t count, int type, int operation,   \
     api::Comm comm, api::Stream stream))                                      \
  X(api::NcclResult, ncclReduce,                                               \
    (const void *send, void *receive, size_t count, int type, int operation,   \
     int root, api::Comm comm, api::Stream stream))                            \
  X(api::NcclResult, ncclAllGather,                                            \
    (const void *send, void *receive, size_t count, int type, api::Comm comm,  \
     api::Stream stream))                                                      \
  X(api::NcclResult, ncclBroadcast,                                            \
    (const void *send, void *receive, size_t count, int type, int root,        \
     api::Comm comm, api::Stream stream))

#endif // VEELINE_RUNTIME_CUDA_NCCLAPI_H
