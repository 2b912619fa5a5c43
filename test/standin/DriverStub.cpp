//===- DriverStub.cpp - a driver for compilers of kernels alone -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuDNN compiles kernels for GPUs that are only described, on machines without
// one, but looks for a driver that would load them. This driver has the
// functions that it looks for, which do nothing, and no GPUs.
//
//===----------------------------------------------------------------------===//

static constexpr int noDevice = 100;

#define VEELINE_STUB extern "C" __attribute__((visibility("default")))

VEELINE_STUB int cuInit() { return noDevice; }

/// Functions whose result has to be some address.
#define GIVES(name)                                                            \
  VEELINE_STUB int name(void **result) {                                       \
    *result = reinterpret_cast<void *>(&name);                                 \
    return 0;                                                                  \
  }
GIVES(cuLibraryLoadData)
GIVES(cuLibraryGetKernel)
GIVES(cuKernelGetFunction)
GIVES(cuModuleLoadData)
GIVES(cuModuleLoadDataEx)
GIVES(cuModuleLoadFatBinary)
GIVES(cuModuleGetFunction)

#define DOES_NOTHING(name)                                                     \
  VEELINE_STUB int name() { return 0; }
DOES_NOTHING(cuCtxGetCurrent)
DOES_NOTHING(cuCtxGetDevice)
DOES_NOTHING(cuCtxGetLimit)
DOES_NOTHING(cuCtxPopCurrent)
DOES_NOTHING(cuCtxPushCurrent)
DOES_NOTHING(cuDeviceGet)
DOES_NOTHING(cuDeviceGetAttribute)
DOES_NOTHING(cuDeviceGetCount)
DOES_NOTHING(cuDevicePrimaryCtxRelease)
DOES_NOTHING(cuDevicePrimaryCtxReset)
DOES_NOTHING(cuDevicePrimaryCtxRetain)
DOES_NOTHING(cuDriverGetVersion)
DOES_NOTHING(cuFuncGetAttribute)
DOES_NOTHING(cuFuncSetAttribute)
DOES_NOTHING(cuGetErrorName)
DOES_NOTHING(cuGetErrorString)
DOES_NOTHING(cuKernelGetAttribute)
DOES_NOTHING(cuKernelSetAttribute)
DOES_NOTHING(cuLaunchCooperativeKernel)
DOES_NOTHING(cuLaunchKernel)
DOES_NOTHING(cuLaunchKernelEx)
DOES_NOTHING(cuLibraryLoadFromFile)
DOES_NOTHING(cuLibraryUnload)
DOES_NOTHING(cuLinkAddData)
DOES_NOTHING(cuLinkAddData_v2)
DOES_NOTHING(cuLinkAddFile_v2)
DOES_NOTHING(cuLinkComplete)
DOES_NOTHING(cuLinkCreate)
DOES_NOTHING(cuLinkCreate_v2)
DOES_NOTHING(cuLinkDestroy)
DOES_NOTHING(cuMemcpyDtoH_v2)
DOES_NOTHING(cuModuleGetGlobal_v2)
DOES_NOTHING(cuModuleUnload)
DOES_NOTHING(cuOccupancyMaxActiveBlocksPerMultiprocessor)
DOES_NOTHING(cuOccupancyMaxPotentialClusterSize)
DOES_NOTHING(cuStreamGetCtx)
DOES_NOTHING(cuStreamSynchronize)
DOES_NOTHING(cuTensorMapEncodeTiled)
