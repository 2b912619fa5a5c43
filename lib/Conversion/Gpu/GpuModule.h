//===- GpuModule.h - the module of kernels ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_GPUMODULE_H
#define VEELINE_LIB_CONVERSION_GPU_GPUMODULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace veeline {

/// The gpu.module of kernels.
inline constexpr llvm::StringLiteral gpuModuleName = "kernels";
/// On a kernel function: the gpu.func that does the same.
inline constexpr llvm::StringLiteral gpuKernelAttrName = "pipe.gpu_kernel";
/// On a gpu.func that adds up contributions of replicas, for any number of
/// elements, and on its host twin.
inline constexpr llvm::StringLiteral sumKernelAttrName = "pipe.sum";

/// On a loop of a gpu.func, as LLVM's dialect has it: whether it is unrolled.
inline constexpr llvm::StringLiteral loopAnnotationAttrName =
    "llvm.loop_annotation";

/// Adds the kernel that adds up `count` contributions of elements of `type`,
/// and its host twin, if they are not there. Its arguments are the result, the
/// contributions in order, of which one may be the result, and the number of
/// elements; a block has `sumElementsPerBlock` of them.
void addSumKernel(mlir::gpu::GPUModuleOp module, mlir::Type type,
                  int64_t count);
inline constexpr int64_t sumElementsPerBlock = 1024;

/// Shared memory that a kernel may have on every chip, and what it may have
/// without asking for it at its launch.
inline constexpr int64_t maxSharedBytes = 99 << 10,
                         maxStaticSharedBytes = 48 << 10;

/// The bytes of dynamic shared memory of a launch of `kernel`: all of its
/// shared buffers if they exceed maxStaticSharedBytes, else 0.
int64_t getDynamicSharedBytes(mlir::gpu::GPUFuncOp kernel);

/// Makes the shared buffers of kernels that need it parts of dynamic shared
/// memory, and gives all shared buffers LLVM's memory space for them.
void lowerSharedMemory(mlir::gpu::GPUModuleOp module);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_GPUMODULE_H
