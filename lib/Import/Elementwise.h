//===- Elementwise.h - operands and results of elementwise ops --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_ELEMENTWISE_H
#define VEELINE_LIB_IMPORT_ELEMENTWISE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace veeline {

/// Whether the result of an op is its first operand in another form.
bool isView(mlir::Operation *op);

/// Whether an op is a square root (also as a power) or its reciprocal.
bool isRoot(mlir::Operation *op);

/// The uses of a value by ops that compute with it, also in bodies of
/// elementwise ops. Looks through views and broadcasts.
llvm::SmallVector<mlir::OpOperand *> findArithmetic(mlir::Value value);

/// The operands of the elementwise op that computes `value`, or of a view. None
/// for an argument of the model, a constant, a reduction, or an op that moves
/// elements.
llvm::SmallVector<mlir::Value> getSources(mlir::Value value);

/// The number that all elements of `value` equal, found through views and
/// broadcasts. None if elements differ or are unknown.
std::optional<double> findNumber(mlir::Value value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_ELEMENTWISE_H
