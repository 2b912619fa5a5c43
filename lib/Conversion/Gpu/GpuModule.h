//===- GpuModule.h - the module of kernels ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_GPUMODULE_H
#define VEELINE_LIB_CONVERSION_GPU_GPUMODULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace veeline {

/// The name of the gpu.module with all kernels.
inline constexpr llvm::StringLiteral gpuModuleName = "kernels";
/// On a kernel function: the name of the gpu.func that does the same.
inline constexpr llvm::StringLiteral gpuKernelAttrName = "pipe.gpu_kernel";
/// On a gpu.func that sums contributions of replicas, for any number of
/// elements, and on its counterpart for the host.
inline constexpr llvm::StringLiteral sumKernelAttrName = "pipe.sum";

/// On a loop of a gpu.func: LLVM's annotation of whether to unroll it.
inline constexpr llvm::StringLiteral loopAnnotationAttrName =
    "llvm.loop_annotation";

/// Adds the kernel that sums `count` contributions of elements of `type`, and
/// its counterpart for the host, unless they exist. The arguments are the
/// result, the contributions in order, of which one may be the result, and the
/// number of elements. A block sums `sumElementsPerBlock` of them.
void addSumKernel(mlir::gpu::GPUModuleOp module, mlir::Type type,
                  int64_t count);
inline constexpr int64_t sumElementsPerBlock = 1024;

/// The shared memory that a kernel can have on every chip, and the part of it
/// that it can have without a request at its launch.
inline constexpr int64_t maxSharedBytes = 99 << 10,
                         maxStaticSharedBytes = 48 << 10;

/// The bytes of dynamic shared memory for a launch of `kernel`: those of all
/// its shared buffers if they exceed maxStaticSharedBytes, else 0.
int64_t getDynamicSharedBytes(mlir::gpu::GPUFuncOp kernel);

/// Puts the shared buffers of kernels into dynamic shared memory if they need
/// it, and gives all shared buffers LLVM's memory space for them.
void lowerSharedMemory(mlir::gpu::GPUModuleOp module);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_GPUMODULE_H
