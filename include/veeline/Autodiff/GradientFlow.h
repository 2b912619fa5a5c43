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
  /// The first op at which its gradient ends; null where what is differentiated
  /// does not depend on the argument.
  mlir::Operation *op = nullptr;
};

/// Whether the derivative of `op` is 0 wherever it has one, as that of a
/// rounding.
bool isStep(mlir::Operation *op);

/// Those of `arguments` that get no gradient of `results`, because every path
/// between them has a step or a value that is no float. Both are of a model's
/// function. An op that is not looked into is assumed to hand gradients on to
/// all floats that it uses. The body of a loop is looked at until nothing
/// changes. Otherwise linear in the number of ops, times the words of a set of
/// bits for the arguments that are lost.
llvm::SmallVector<LostGradient>
findLostGradients(mlir::func::FuncOp model,
                  llvm::ArrayRef<mlir::BlockArgument> arguments,
                  llvm::ArrayRef<mlir::Value> results);

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_GRADIENTFLOW_H
