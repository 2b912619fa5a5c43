//===- ScalarFunction.h - evaluating a body of scalars ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_SCALARFUNCTION_H
#define VEELINE_LIB_CONVERSION_KERNELS_SCALARFUNCTION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <optional>

namespace veeline {

/// The body of a structured op as a function of its first inputs, in f64 and
/// without rounding.
class ScalarFunction {
public:
  explicit ScalarFunction(mlir::Block &body) : body(body) {}

  bool hasTanh() const { return !body.getOps<mlir::math::TanhOp>().empty(); }

  /// The first value that the body yields. None if the body has an unknown op.
  std::optional<double> evaluate(llvm::ArrayRef<double> inputs) const;

private:
  mlir::Block &body;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_SCALARFUNCTION_H
