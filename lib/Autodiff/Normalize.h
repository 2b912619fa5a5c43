//===- Normalize.h - the form that is differentiated ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_NORMALIZE_H
#define VEELINE_LIB_AUTODIFF_NORMALIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

namespace veeline::autodiff {

/// Brings a function into the form that differentiates best: elementwise ops on
/// tensors become structured ops; windows that the library of `target` does not
/// know are unrolled; marks of cuts go;
/// slices are taken before a transposition instead of after it, so that it
/// moves no more than it has to and a matrix product can read or write through
/// it; and an op starts from no value that it does not read.
llvm::LogicalResult normalizeForDifferentiation(mlir::func::FuncOp func,
                                                KernelTarget target);

/// Gives convolutions that a library computes zeros around their x of their
/// own: these are never kept, whoever else reads such zeros, so that every
/// function calls the library alike. Equal ops must not be merged after it.
void separatePaddings(mlir::func::FuncOp func);

/// Brings loops and branches on tensors into the form that their rules take:
/// what does not change from one iteration to the next is computed before the
/// loop, and what they carry and give are tensors, of one element where they
/// were scalars: a scalar cannot be kept.
void normalizeLoops(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_NORMALIZE_H
