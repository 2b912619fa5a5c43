//===- Joint.h - models that contain their derivative -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See docs/joint-graphs.md. --pipe-separate-joint splits such a module into the
// model and the private joint function that it came from. Passes that cut the
// model also cut that function.
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

/// The joint function of a model, or of a chunk's part of it. Null if it has
/// none; an error if the function that it names does not exist.
mlir::FailureOr<mlir::func::FuncOp> getJoint(mlir::func::FuncOp func);

/// A result that is the gradient or the new value of a parameter.
struct SubjectResult {
  mlir::BlockArgument param;
  unsigned result;
};

/// The results of `func` that are gradients or new values of parameters. Fails
/// with an error unless each parameter has one, of its own type.
mlir::FailureOr<llvm::SmallVector<SubjectResult>>
findSubjectResults(mlir::func::FuncOp func);

/// Fails with an error at `model` if it has a joint function, because `change`
/// would alter the model but not its derivative.
mlir::LogicalResult refuseJoint(mlir::func::FuncOp model,
                                llvm::StringRef change);

/// Replaces the joint function `func` by two functions. The model function has
/// its name, and the results that are not gradients. A private joint function
/// has all of it, but updated parameters are replaced by their gradients, and
/// the optimiser's state is removed. Fails with an error if results and
/// parameters do not match, or if an update is one that the runtime cannot do.
mlir::LogicalResult separateJoint(mlir::func::FuncOp func,
                                  mlir::SymbolTable &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_JOINT_H
