//===- BodyAdjoint.h - derivative of a structured op's body -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_BODYADJOINT_H
#define VEELINE_LIB_AUTODIFF_BODYADJOINT_H

#include "Activity.h"
#include "mlir/IR/IRMapping.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"

namespace veeline::autodiff {

/// Reverse mode over the body of a structured op. The adjoint is emitted
/// through `builder` into another block. Scalars of the body are copied there
/// only if the adjoint needs them.
class BodyAdjoint : public Adjoint {
public:
  /// `known` maps the arguments of the body to values in the other block. It
  /// also maps those scalars of the body that can be read there instead of
  /// being recomputed.
  BodyAdjoint(mlir::Block &body, mlir::OpBuilder &builder,
              const mlir::IRMapping &known)
      : body(body), builder(builder), known(known) {}

  /// Adds `gradient` to the gradient of `value`, a value of the body.
  void seed(mlir::Value value, mlir::Value gradient);

  /// The gradient of `target`, which is a value of the body or one that it
  /// captures. Null if no seed depends on it. Fails with an error at an op that
  /// has no rule. O(ops of the body).
  llvm::FailureOr<mlir::Value> differentiate(mlir::Value target);

  mlir::Value gradient(mlir::Value result) override;
  bool wants(mlir::Value value) override;
  mlir::Value primal(mlir::Value value) override;
  void contribute(mlir::Value value, mlir::Value gradient) override;
  void contributeSlice(mlir::Value value, mlir::Value gradient,
                       llvm::ArrayRef<mlir::OpFoldResult> offsets,
                       llvm::ArrayRef<mlir::OpFoldResult> sizes,
                       llvm::ArrayRef<mlir::OpFoldResult> strides) override;

private:
  mlir::Block &body;
  mlir::OpBuilder &builder;
  mlir::IRMapping known;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
  llvm::DenseSet<mlir::Value> active;
};

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_BODYADJOINT_H
