//===- Elements.h - elements of tensors as expressions ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_ELEMENTS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_ELEMENTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace veeline::pipe {

/// A structured op that computes each element of its result from the same
/// elements of its operands, or null.
mlir::linalg::LinalgOp getElementwise(mlir::Value tensor);

/// An element of a tensor: the scalar that a body computes, the operand that it
/// reads in its place, or the tensor itself.
mlir::Value resolve(mlir::Value element);

/// What computes the element, once structured ops are looked into.
mlir::Operation *getComputation(mlir::Value element);

/// The number that the element is everywhere.
std::optional<llvm::APFloat> getConstant(mlir::Value element);

/// Computes an element of a tensor from the elements of others.
class ElementEvaluator {
public:
  void set(mlir::Value tensor, double element) { numbers[tensor] = element; }
  /// None where it takes more than what was set, constants, and elementwise ops
  /// of arith and math.
  std::optional<double> evaluate(mlir::Value element) const;

private:
  llvm::DenseMap<mlir::Value, double> numbers;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_ELEMENTS_H
