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

/// Says that what an iteration gives to the next stands where it found it. To
/// be done before bufferization.
void chooseCarriedMemory(mlir::func::FuncOp func);

/// Makes loops carry and branches give no buffers: all iterations work on one,
/// and both branches write to one that stands before them. To be done after
/// bufferization. Fails with an error at an op where that is not possible.
llvm::LogicalResult removeCarriedBuffers(mlir::RewriterBase &rewriter,
                                         mlir::func::FuncOp func);

/// Moves allocations to the front of the function: a buffer of an iteration is
/// the same one in the next.
void hoistAllocations(mlir::func::FuncOp func);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_CONTROLFLOW_H
