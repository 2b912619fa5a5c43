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

/// Ops whose result is their first operand in another form.
bool isView(mlir::Operation *op);

/// A square root, as a power too, or its reciprocal.
bool isRoot(mlir::Operation *op);

/// The uses of a value by ops that compute with it, in bodies of elementwise
/// ops too. Looks through views and broadcasts.
llvm::SmallVector<mlir::OpOperand *> findArithmetic(mlir::Value value);

/// The operands of the elementwise computation that makes `value`, one step
/// back. None for an argument of the model, a constant, and what sums up or
/// moves elements.
llvm::SmallVector<mlir::Value> getSources(mlir::Value value);

/// The number that all elements of `value` are, found through views and
/// broadcasts; none if they are anything else.
std::optional<double> findNumber(mlir::Value value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_ELEMENTWISE_H
