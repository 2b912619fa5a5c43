//===- Joint.h - models that bring their derivative -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/joint-graphs.md. --pipe-separate-joint leaves the model, and beside it
// the private joint function that it came from. Passes that cut the model cut
// that function with it.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_JOINT_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_JOINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// Whether a result of `func` is a gradient or an updated parameter.
bool isJoint(mlir::func::FuncOp func);

/// The joint function of a model or of a chunk's part of it; null where it has
/// none, an error where there is no such function.
mlir::FailureOr<mlir::func::FuncOp> getJoint(mlir::func::FuncOp func);

/// A result that is the gradient or the new value of a parameter.
struct SubjectResult {
  mlir::BlockArgument param;
  unsigned result;
};

/// The results of `func` that are about parameters. Fails with an error unless
/// each parameter has one, of its own type.
mlir::FailureOr<llvm::SmallVector<SubjectResult>>
findSubjectResults(mlir::func::FuncOp func);

/// Fails with an error at `model` if it has a joint function: `change` of the
/// model would not be one of its derivative.
mlir::LogicalResult refuseJoint(mlir::func::FuncOp model,
                                llvm::StringRef change);

/// Replaces the joint function `func` by a model function of its name, which
/// has the results that are no gradients, and a private function with all of
/// it, in which updated parameters are gradients, too, and what an optimiser
/// keeps is gone. Fails with an error if results and parameters do not fit, or
/// an update is none that the runtime can do.
mlir::LogicalResult separateJoint(mlir::func::FuncOp func,
                                  mlir::SymbolTable &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_JOINT_H
