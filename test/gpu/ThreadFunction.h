//===- ThreadFunction.h - gpu.func as a function for a CPU ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_THREADFUNCTION_H
#define VEELINE_TEST_GPU_THREADFUNCTION_H

#include "Emulation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace veeline::gpu {

/// The variable of a library that points to DeviceFunctions.
inline constexpr llvm::StringLiteral functionsName = "veeline_gpu_functions";

/// Emits a call of the function that stands at `index` in DeviceFunctions.
/// Returns its result, null if `result` is.
mlir::Value callDevice(mlir::OpBuilder &builder, mlir::Location loc,
                       int32_t index, mlir::Type result,
                       mlir::ValueRange arguments);
inline constexpr int32_t barrierIndex = 0, shuffleIndex = 1, accessIndex = 2,
                         loadMatricesIndex = 3, multiplyIndex = 4,
                         copyAsyncIndex = 5, commitCopiesIndex = 6,
                         waitForCopiesIndex = 7;

/// Writes what a thread of `kernel` does as a function `name` at the end of
/// `module`: its arguments are thread and block (three numbers), those of the
/// kernel, and the buffers that the threads of a block share. Fails with a
/// diagnostic at an op that it does not know.
mlir::FailureOr<mlir::func::FuncOp>
writeThreadFunction(mlir::gpu::GPUFuncOp kernel, llvm::StringRef name,
                    mlir::ModuleOp module);

/// What the runner has to know of `kernel`.
KernelInfo describe(mlir::gpu::GPUFuncOp kernel);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_THREADFUNCTION_H
