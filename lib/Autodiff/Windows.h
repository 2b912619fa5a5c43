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

/// Unrolls the windows through which structured ops read an operand
/// (convolutions and poolings: some index is a sum of a parallel and a
/// reduction dimension). Each element of the window becomes one structured op,
/// on a strided slice of that operand, which starts from the result of the one
/// before. What is left are matrix products and elementwise ops, in which every
/// index is one dimension; neighbouring dimensions are merged. Convolutions
/// that the library of `target` computes stay whole, and so do ops whose
/// indices are not of that form. Linear in the elements of the windows.
void unrollWindows(mlir::func::FuncOp func, KernelTarget target);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_WINDOWS_H
