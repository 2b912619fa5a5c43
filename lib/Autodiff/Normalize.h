//===- Normalize.h - normalising before differentiation ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_NORMALIZE_H
#define VEELINE_LIB_AUTODIFF_NORMALIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

namespace veeline::autodiff {

/// Brings a function into the form that differentiates best. Elementwise ops on
/// tensors become structured ops. Windows that the library of `target` does not
/// know are unrolled. Marks of cuts are removed. Slices are taken before a
/// transposition instead of after it, so that it moves no more than it has to
/// and a matrix product can read or write through it. No op starts from a value
/// that it does not read.
llvm::LogicalResult normalizeForDifferentiation(mlir::func::FuncOp func,
                                                KernelTarget target);

/// Gives each convolution that a library computes its own zeros around its
/// input. These are never kept, whatever else reads such zeros, so that every
/// function calls the library alike. Equal ops must not be merged after it.
void separatePaddings(mlir::func::FuncOp func);

/// Brings loops and branches on tensors into the form that their rules take.
/// What does not change from one iteration to the next is computed before the
/// loop. Scalars that they carry and give become tensors of one element,
/// because a scalar cannot be kept.
void normalizeLoops(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_NORMALIZE_H
