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

/// Brings a function into the form that is best to differentiate:
/// - Elementwise ops on tensors become structured ops.
/// - Windows are unrolled, unless the library of `target` has them.
/// - Marks of cuts are removed.
/// - Slices are taken before a transposition instead of after it, so that the
///   transposition moves no more than it has to, and a matrix product can read
///   or write through it.
/// - No op starts from a value that it does not read.
llvm::LogicalResult normalizeForDifferentiation(mlir::func::FuncOp func,
                                                KernelTarget target);

/// Gives each convolution that a library computes an op of its own that pads
/// its input with zeros. These zeros are never kept, whatever else reads equal
/// ones, so all functions call the library in the same way. Equal ops must not
/// be merged afterwards.
void separatePaddings(mlir::func::FuncOp func);

/// Brings loops and branches on tensors into the form that their rules expect.
/// Loop-invariant values are computed before the loop. Scalars that loops carry
/// or return become tensors of one element, because a scalar cannot be kept.
void normalizeLoops(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_NORMALIZE_H
