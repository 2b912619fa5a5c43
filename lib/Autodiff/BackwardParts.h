//===- BackwardParts.h - a backward as several functions --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_BACKWARDPARTS_H
#define VEELINE_LIB_AUTODIFF_BACKWARDPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

namespace veeline::autodiff {

/// A backward function that is divided into several functions.
struct BackwardParts {
  /// Fails with an error at the function if it is not one block or its roles
  /// are not those of a backward function.
  static mlir::FailureOr<BackwardParts>
  get(mlir::func::FuncOp backward,
      llvm::function_ref<bool(unsigned)> isConstant);

  mlir::Block &block() { return backward.getBody().front(); }
  /// The values of the results with these numbers.
  llvm::SmallVector<mlir::Value> getTargets(llvm::ArrayRef<unsigned> numbers);
  /// The price of keeping a value until a later function runs. A value that is
  /// available anyway costs nothing. Any other argument of the backward costs
  /// an eighth less than a new value of its size, because it need not be
  /// written.
  int64_t price(mlir::Value value) const;
  /// Creates a function of `ops`. It returns `results` of the backward, then
  /// `given`, which are for later parts. It takes arguments of the backward and
  /// `taken`, which are from earlier parts. Values that parts pass to each
  /// other have the role `passed`.
  mlir::OwningOpRef<mlir::func::FuncOp>
  extract(const llvm::Twine &name, llvm::ArrayRef<mlir::Operation *> ops,
          llvm::ArrayRef<unsigned> results, llvm::ArrayRef<mlir::Value> taken,
          llvm::ArrayRef<mlir::Value> given, pipe::RoleKind passed);

  mlir::func::FuncOp backward;
  /// Whether operand i of the chunk is available at all times.
  llvm::function_ref<bool(unsigned)> isConstant;
  pipe::ChunkSignature signature;
};

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_BACKWARDPARTS_H
