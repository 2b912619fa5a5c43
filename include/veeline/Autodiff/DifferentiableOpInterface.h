//===- DifferentiableOpInterface.h - what an op's derivative is -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_DIFFERENTIABLEOPINTERFACE_H
#define VEELINE_AUTODIFF_DIFFERENTIABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "veeline/MlirVersion.h"

namespace veeline::autodiff {

/// The interface between a derivative rule and the program that is
/// differentiated. It gives access to incoming gradients and to the values of
/// the forward computation, and collects the gradients that the rule emits. A
/// rule must not use its op's operands in any other way, because inside the
/// body of a structured op the values of the forward computation are not the
/// SSA values of the op.
class Adjoint {
public:
  virtual ~Adjoint();

  /// The gradient of a result of the op, in the result's type; null if nothing
  /// that is differentiated depends on this result.
  virtual mlir::Value gradient(mlir::Value result) = 0;

  /// Whether a gradient of `value` is wanted, which is an operand or a value
  /// that a region of the op captures. A rule emits nothing for other values.
  virtual bool wants(mlir::Value value) = 0;

  /// The forward value of an operand or result of the op, for use at the
  /// builder's insertion point. Calling this makes the backward computation
  /// depend on the value; values that are not asked for need not be kept.
  virtual mlir::Value primal(mlir::Value value) = 0;

  /// Adds `gradient`, of the type of `value`, to the gradient of `value`.
  virtual void contribute(mlir::Value value, mlir::Value gradient) = 0;

  /// Adds `gradient` to a part of the gradient of the tensor `value`: the part
  /// that a `tensor.extract_slice` with these offsets, sizes and strides reads.
  virtual void contributeSlice(mlir::Value value, mlir::Value gradient,
                               llvm::ArrayRef<mlir::OpFoldResult> offsets,
                               llvm::ArrayRef<mlir::OpFoldResult> sizes,
                               llvm::ArrayRef<mlir::OpFoldResult> strides) = 0;
};

} // namespace veeline::autodiff

#include "veeline/Autodiff/DifferentiableOpInterface.h.inc"

#endif // VEELINE_AUTODIFF_DIFFERENTIABLEOPINTERFACE_H
