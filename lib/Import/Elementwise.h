//===- Elementwise.h - what elementwise ops read and make -------*- C++ -*-===//
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
/// ops too, through what only hands it on.
llvm::SmallVector<mlir::OpOperand *> findArithmetic(mlir::Value value);

/// What an elementwise computation makes `value` of, one step back; none for
/// an argument of the model, a constant, and what sums up or moves elements.
llvm::SmallVector<mlir::Value> getSources(mlir::Value value);

/// The number that `value` is everywhere, as what it was broadcast from; none
/// where it is something else.
std::optional<double> findNumber(mlir::Value value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_ELEMENTWISE_H
