//===- Windows.h - convolutions and poolings without windows ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_WINDOWS_H
#define VEELINE_LIB_AUTODIFF_WINDOWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

namespace veeline::autodiff {

/// Replaces every structured op that reads an operand through windows (a
/// convolution, a pooling: some index is a sum of a parallel and a reduction
/// dimension) by one structured op for each element of the window, on a strided
/// slice of that operand, each starting from the result of the one before. What
/// is left are products of matrices and elementwise ops, in which every index
/// is one dimension; neighbouring dimensions are merged. Convolutions that the
/// library of `target` computes stay whole, and ops whose indices are not of
/// that form. Linear in the elements of the windows.
void unrollWindows(mlir::func::FuncOp func, KernelTarget target);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_WINDOWS_H
