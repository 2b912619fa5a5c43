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

/// A backward function, parts of which become functions of their own.
struct BackwardParts {
  /// Fails with an error at the function if it is not one block or its roles
  /// are not those of a backward function.
  static mlir::FailureOr<BackwardParts>
  get(mlir::func::FuncOp backward,
      llvm::function_ref<bool(unsigned)> isConstant);

  mlir::Block &block() { return backward.getBody().front(); }
  /// The values of results by their numbers.
  llvm::SmallVector<mlir::Value> getTargets(llvm::ArrayRef<unsigned> numbers);
  /// What it costs to keep a value for a function that runs later. A value that
  /// is there anyway costs nothing. Any other argument is kept alive by that
  /// function. That costs an eighth less than keeping a value of its size,
  /// because it need not be written.
  int64_t price(mlir::Value value) const;
  /// A function of `ops` that gives `results` of the backward, and behind them
  /// `given`. It takes arguments of the backward and `taken`. Both are what one
  /// part makes for another, and have the role `passed`.
  mlir::OwningOpRef<mlir::func::FuncOp>
  extract(const llvm::Twine &name, llvm::ArrayRef<mlir::Operation *> ops,
          llvm::ArrayRef<unsigned> results, llvm::ArrayRef<mlir::Value> taken,
          llvm::ArrayRef<mlir::Value> given, pipe::RoleKind passed);

  mlir::func::FuncOp backward;
  /// Whether operand i of the chunk is there whenever it is needed.
  llvm::function_ref<bool(unsigned)> isConstant;
  pipe::ChunkSignature signature;
};

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_BACKWARDPARTS_H
