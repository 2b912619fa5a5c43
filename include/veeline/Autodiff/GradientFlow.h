//===- GradientFlow.h - where gradients end ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_GRADIENTFLOW_H
#define VEELINE_AUTODIFF_GRADIENTFLOW_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// An argument that no gradient reaches.
struct LostGradient {
  mlir::BlockArgument argument;
  /// The first op at which its gradient ends; null if the results do not depend
  /// on the argument.
  mlir::Operation *op = nullptr;
};

/// Whether the derivative of `op` is 0 wherever it exists, as for a rounding.
bool isStep(mlir::Operation *op);

/// Finds the `arguments` that get no gradient of `results`, because every path
/// between them contains a step (`isStep`) or a value that is no float. Both
/// are of the function `model`. An op whose regions are not analysed is assumed
/// to pass gradients on to all floats that it uses. The body of a loop is
/// analysed until a fixed point. Otherwise linear in the number of ops, times
/// the words of a bit set over the lost arguments.
llvm::SmallVector<LostGradient>
findLostGradients(mlir::func::FuncOp model,
                  llvm::ArrayRef<mlir::BlockArgument> arguments,
                  llvm::ArrayRef<mlir::Value> results);

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_GRADIENTFLOW_H
