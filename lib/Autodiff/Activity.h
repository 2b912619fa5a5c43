//===- Activity.h - values that carry a gradient ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_ACTIVITY_H
#define VEELINE_LIB_AUTODIFF_ACTIVITY_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace veeline::autodiff {

/// Whether a value of this type can carry a gradient: a float, or a tensor of
/// floats.
bool isDifferentiableType(mlir::Type type);

/// The operands of `op` and of all ops in its regions.
llvm::SmallVector<mlir::Value> getAllOperands(mlir::Operation &op);

/// Whether `value`, which is computed in a body, depends on `argument`, an
/// argument of that body.
bool dependsOn(mlir::Value value, mlir::Value argument);

/// The values of `block` and `from` that can carry a gradient, depend on a
/// value of `from`, and influence a value of `to`. Integers carry no dependence
/// from one value to another. O(ops of the block).
llvm::DenseSet<mlir::Value> findActiveValues(mlir::Block &block,
                                             llvm::ArrayRef<mlir::Value> from,
                                             llvm::ArrayRef<mlir::Value> to);

/// Emits the error for an op that is differentiated but has no rule.
llvm::LogicalResult emitNoRule(mlir::Operation *op);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_ACTIVITY_H
