//===- BlockAdjoint.h - reverse mode over a block of tensors ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_BLOCKADJOINT_H
#define VEELINE_LIB_AUTODIFF_BLOCKADJOINT_H

#include "mlir/IR/BuiltinTypes.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace veeline::autodiff {

/// A gradient of a value, or of the slice of it that starts at `offsets`.
struct Contribution {
  mlir::Value gradient;
  bool isSlice = false;
  llvm::SmallVector<mlir::OpFoldResult> offsets = {}, sizes = {}, strides = {};
};

/// Reverse mode over a block of ops on tensors. The adjoint is emitted into the
/// same block, behind the forward computation, and uses the values of the
/// forward directly.
class BlockAdjoint : public Adjoint {
public:
  /// `active` holds all values that carry gradients, also those defined outside
  /// of the block.
  BlockAdjoint(mlir::OpBuilder &builder, llvm::DenseSet<mlir::Value> active)
      : builder(builder), active(std::move(active)) {}

  /// Differentiates `ops`, from the last to the first. Fails with an error at
  /// the op that has no rule.
  llvm::LogicalResult differentiate(llvm::ArrayRef<mlir::Operation *> ops);

  bool wants(mlir::Value value) override { return active.contains(value); }
  mlir::Value primal(mlir::Value value) override { return value; }
  mlir::Value gradient(mlir::Value result) override;
  void contribute(mlir::Value value, mlir::Value gradient) override;
  void contributeSlice(mlir::Value value, mlir::Value gradient,
                       llvm::ArrayRef<mlir::OpFoldResult> offsets,
                       llvm::ArrayRef<mlir::OpFoldResult> sizes,
                       llvm::ArrayRef<mlir::OpFoldResult> strides) override;

  /// Returns the tensor `sum` plus the contributions to the gradient of
  /// `value`; a slice is added in its place. The element type of `sum` may be
  /// wider. If `value` is a scalar, `sum` has rank 0.
  mlir::Value addContributions(mlir::Value value, mlir::Value sum);

private:
  mlir::Value joinSlices(mlir::RankedTensorType type,
                         llvm::ArrayRef<Contribution> slices);

  mlir::OpBuilder &builder;
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Contribution, 1>> contributions;
  llvm::DenseMap<mlir::Value, mlir::Value> sums;
};

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_BLOCKADJOINT_H
