//===- JointFunction.h - forward and backward in one block ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_JOINTFUNCTION_H
#define VEELINE_LIB_AUTODIFF_JOINTFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

namespace veeline::autodiff {

/// A function and its gradient in one block, before the choice of what the
/// forward keeps for the backward. The arguments are those of the primal
/// function, then `seeds`. It returns the results of the primal function only.
struct JointFunction {
  mlir::OwningOpRef<mlir::func::FuncOp> func;
  /// For each result of the primal function, the argument that is its gradient,
  /// or null.
  llvm::SmallVector<mlir::Value> seeds;
  /// For each argument of the primal function, its gradient, or null if that is
  /// not wanted.
  llvm::SmallVector<mlir::Value> gradients;
  /// The results of the last op of each piece of the primal function except the
  /// last piece, in order.
  llvm::SmallVector<mlir::Value> pieceEnds;
};

/// Runs `change`, and updates `values` if it replaces them: the block returns
/// them meanwhile.
void followValues(mlir::Block &block, llvm::MutableArrayRef<mlir::Value> values,
                  llvm::function_ref<void()> change);

/// Differentiates `primal` in reverse mode with respect to the arguments that
/// `wanted` marks, given gradients of the results that `seeded` marks. The
/// contributions to the gradient of one value are added in the order in which
/// reverse mode meets them: from the value's last use to its first. Ops that
/// the library of `target` computes stay whole. Fails with an error at an op
/// that cannot be differentiated.
llvm::FailureOr<JointFunction> buildJointFunction(mlir::func::FuncOp primal,
                                                  llvm::ArrayRef<bool> wanted,
                                                  llvm::ArrayRef<bool> seeded,
                                                  KernelTarget target);

/// Builds the joint function of a chunk from `given`, its derivative that the
/// model brings. `given` takes the arguments of `primal`, then a gradient of
/// each result that `seeded` marks. It returns the results of `primal`, then
/// the gradients that `wanted` marks. Fails with an error if it does not.
llvm::FailureOr<JointFunction> readJointFunction(mlir::func::FuncOp given,
                                                 mlir::func::FuncOp primal,
                                                 llvm::ArrayRef<bool> wanted,
                                                 llvm::ArrayRef<bool> seeded,
                                                 KernelTarget target);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_JOINTFUNCTION_H
