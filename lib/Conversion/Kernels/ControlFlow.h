//===- ControlFlow.h - loops and branches on tensors in memory --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_CONTROLFLOW_H
#define VEELINE_LIB_CONVERSION_KERNELS_CONTROLFLOW_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// Makes every iteration of a loop leave the tensors that it carries in the
/// memory where they were. Runs before bufferization.
void chooseCarriedMemory(mlir::func::FuncOp func);

/// Removes the buffers that loops carry and branches yield. All iterations then
/// use one buffer, and both sides of a branch write to one that is allocated
/// before it. Runs after bufferization. Fails with an error at an op if that is
/// not possible.
llvm::LogicalResult removeCarriedBuffers(mlir::RewriterBase &rewriter,
                                         mlir::func::FuncOp func);

/// Moves allocations to the front of the function, so that all iterations of a
/// loop use the same buffer.
void hoistAllocations(mlir::func::FuncOp func);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_CONTROLFLOW_H
