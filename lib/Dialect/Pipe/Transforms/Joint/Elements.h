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

/// The structured op that computes each element of `tensor` from the elements
/// of its operands at the same place, or null.
mlir::linalg::LinalgOp getElementwise(mlir::Value tensor);

/// Resolves an element: a scalar in a body that stands for an element of an
/// operand becomes that operand. Anything else is returned as it is.
mlir::Value resolve(mlir::Value element);

/// The op that computes the element. Looks into structured ops.
mlir::Operation *getComputation(mlir::Value element);

/// The number that all elements of the tensor equal.
std::optional<llvm::APFloat> getConstant(mlir::Value element);

/// Computes an element of a tensor from the elements of other tensors.
class ElementEvaluator {
public:
  void set(mlir::Value tensor, double element) { numbers[tensor] = element; }
  /// None if it depends on anything but the values that were set, constants,
  /// and elementwise ops of arith and math.
  std::optional<double> evaluate(mlir::Value element) const;

private:
  llvm::DenseMap<mlir::Value, double> numbers;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_ELEMENTS_H
