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

/// Unrolls the windows through which structured ops read an operand.
/// Convolutions and poolings have windows: an index is a sum of a parallel and
/// a reduction dimension. Each element of the window becomes one structured op
/// on a strided slice of the operand, and starts from the result of the one
/// before. What is left are matrix products and elementwise ops, whose indices
/// are single dimensions; neighbouring dimensions are merged. Convolutions that
/// the library of `target` computes stay whole, and so do ops whose indices
/// have another form. Linear in the number of elements of the windows.
void unrollWindows(mlir::func::FuncOp func, KernelTarget target);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_WINDOWS_H
