//===- CudaApi.h - our declarations of the CUDA driver ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With these declarations, the build needs no headers of CUDA. A test compares
// all of them to the real headers, if these are installed.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_CUDAAPI_H
#define VEELINE_RUNTIME_LIBRARY_CUDAAPI_H

#include <cstddef>

namespace veeline::cuda::api {

using Result = int; ///< CUresult
inline constexpr Result success = 0, invalidValue = 1, outOfMemory = 2,
                        stubLibrary = 34, noDevice = 100, notReady = 600,
                        notSupported = 801, captureUnsupported = 900;

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct OpaqueContext *;
using Module = struct OpaqueModule *;
using Function = struct OpaqueFunction *;
using Stream = struct OpaqueStream *;
using Event = struct OpaqueEvent *;
using Graph = struct OpaqueGraph *;
using GraphExec = struct OpaqueGraphExec *;
struct Uuid {
  char bytes[16];
};

// CUdevice_attribute
inline constexpr int computeCapabilityMajor = 75, computeCapabilityMinor = 76;
// CUfunction_attribute
inline constexpr int maxDynamicSharedBytes = 8;
// CUjit_option
inline constexpr int jitErrorLogBuffer = 5, jitErrorLogBytes = 6;
// CUstream_flags, CUevent_flags
inline constexpr unsigned nonBlockingStream = 1, disableTiming = 2;
// CUstreamCaptureMode
inline constexpr int captureThreadLocal = 1;

} // namespace veeline::cuda::api

/// X(name, parameters) for each function; all return a Result. The names are
/// those of the library, with their versions.
#define VEELINE_CUDA_FUNCTIONS(X)                                              \
  X(cuInit, (unsigned flags))                                                  \
  X(cuDriverGetVersion, (int *version))                                        \
  X(cuGetErrorName, (api::Result error, const char **name))                    \
  X(cuGetErrorString, (api::Result error, const char **text))                  \
  X(cuDeviceGetCount, (int *count))                                            \
  X(cuDeviceGet, (api::Device * device, int ordinal))                          \
  X(cuDeviceGetName, (char *name, int bytes, api::Device device))              \
  X(cuDeviceGetAttribute, (int *value, int attribute, api::Device device))     \
  X(cuDeviceGetUuid_v2, (api::Uuid * uuid, api::Device device))                \
  X(cuDevicePrimaryCtxRetain, (api::Context * context, api::Device device))    \
  X(cuDevicePrimaryCtxRelease_v2, (api::Device device))                        \
  X(cuCtxSetCurrent, (api::Context context))                                   \
  X(cuMemGetInfo_v2, (size_t * available, size_t * total))                     \
  X(cuMemAlloc_v2, (api::DevicePointer * place, size_t bytes))                 \
  X(cuMemFree_v2, (api::DevicePointer place))                                  \
  X(cuMemGetAddressRange_v2,                                                   \
    (api::DevicePointer * first, size_t * bytes, api::DevicePointer place))    \
  X(cuMemHostAlloc, (void **place, size_t bytes, unsigned flags))              \
  X(cuMemFreeHost, (void *place))                                              \
  X(cuMemcpyHtoDAsync_v2, (api::DevicePointer target, const void *source,      \
                           size_t bytes, api::Stream stream))                  \
  X(cuMemcpyDtoHAsync_v2, (void *target, api::DevicePointer source,            \
                           size_t bytes, api::Stream stream))                  \
  X(cuMemcpyDtoDAsync_v2,                                                      \
    (api::DevicePointer target, api::DevicePointer source, size_t bytes,       \
     api::Stream stream))                                                      \
  X(cuMemsetD8Async, (api::DevicePointer target, unsigned char value,          \
                      size_t count, api::Stream stream))                       \
  X(cuMemsetD32Async, (api::DevicePointer target, unsigned value,              \
                       size_t count, api::Stream stream))                      \
  X(cuStreamWriteValue32_v2, (api::Stream stream, api::DevicePointer target,   \
                              unsigned value, unsigned flags))                 \
  X(cuStreamCreate, (api::Stream * stream, unsigned flags))                    \
  X(cuStreamDestroy_v2, (api::Stream stream))                                  \
  X(cuStreamSynchronize, (api::Stream stream))                                 \
  X(cuStreamQuery, (api::Stream stream))                                       \
  X(cuStreamWaitEvent, (api::Stream stream, api::Event event, unsigned flags)) \
  X(cuEventCreate, (api::Event * event, unsigned flags))                       \
  X(cuEventDestroy_v2, (api::Event event))                                     \
  X(cuEventRecord, (api::Event event, api::Stream stream))                     \
  X(cuEventQuery, (api::Event event))                                          \
  X(cuEventElapsedTime,                                                        \
    (float *milliseconds, api::Event begin, api::Event end))                   \
  X(cuStreamBeginCapture_v2, (api::Stream stream, int mode))                   \
  X(cuStreamEndCapture, (api::Stream stream, api::Graph * graph))              \
  X(cuGraphInstantiateWithFlags,                                               \
    (api::GraphExec * executable, api::Graph graph, unsigned long long flags)) \
  X(cuGraphLaunch, (api::GraphExec executable, api::Stream stream))            \
  X(cuGraphDestroy, (api::Graph graph))                                        \
  X(cuGraphExecDestroy, (api::GraphExec executable))                           \
  X(cuModuleLoadDataEx, (api::Module * module, const void *image,              \
                         unsigned numOptions, int *options, void **values))    \
  X(cuModuleUnload, (api::Module module))                                      \
  X(cuModuleGetFunction,                                                       \
    (api::Function * function, api::Module module, const char *name))          \
  X(cuFuncSetAttribute, (api::Function function, int attribute, int value))    \
  X(cuLaunchKernel,                                                            \
    (api::Function function, unsigned gridX, unsigned gridY, unsigned gridZ,   \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     api::Stream stream, void **parameters, void **extra))

/// The same for functions that drivers have only from a later version on. They
/// are null where the driver lacks them.
#define VEELINE_CUDA_LATER_FUNCTIONS(X)                                        \
  /* From 12.4 on. */                                                          \
  X(cuFuncLoad, (api::Function function))

#endif // VEELINE_RUNTIME_LIBRARY_CUDAAPI_H
