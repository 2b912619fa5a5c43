//===- RegionJoint.h - forward and backward of a region ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_REGIONJOINT_H
#define VEELINE_LIB_AUTODIFF_REGIONJOINT_H

#include "BlockAdjoint.h"
#include "Partition.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace veeline::autodiff {

/// A copy of the only block of a region, with its adjoint behind it, before the
/// choice of what the forward keeps for the backward. Values from outside of
/// the region are used directly.
class RegionJoint {
public:
  /// `mapped` has the values that replace some arguments of `source`. For each
  /// other argument, the copy gets one.
  RegionJoint(mlir::Block &source, const mlir::IRMapping &mapped);
  ~RegionJoint() { holder->erase(); }

  /// Differentiates the copy. `active` has the values of `source` that carry
  /// gradients. `seeds` has pairs of a value of `source` and its gradient,
  /// which may be an argument that was added to `block`.
  llvm::LogicalResult
  differentiate(const llvm::DenseSet<mlir::Value> &active,
                llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> seeds);

  /// Chooses what the forward keeps, given that the backward has to compute
  /// `targets`.
  void partition(llvm::ArrayRef<mlir::Value> targets);

  /// Clones the ops of the forward that compute `results`.
  void cloneForward(mlir::OpBuilder &at, llvm::ArrayRef<mlir::Value> results,
                    mlir::IRMapping &mapping);

  /// The ops of the backward that compute some of its targets.
  struct Part {
    llvm::SmallVector<mlir::Operation *> ops;
    /// The values that this part takes from other parts.
    llvm::SetVector<mlir::Value> taken;
  };
  /// Selects the ops of the backward that compute `targets`. Values for which
  /// `isGiven` returns true are taken instead of being computed.
  Part selectBackward(llvm::ArrayRef<mlir::Value> targets,
                      llvm::function_ref<bool(mlir::Value)> isGiven) const;

  /// The value in the copy that corresponds to a value of `source`.
  mlir::Value get(mlir::Value value) { return copy.lookupOrDefault(value); }

  /// The values that the copy yields.
  mlir::ValueRange yielded() { return block.getTerminator()->getOperands(); }

  std::unique_ptr<BlockAdjoint> adjoint;
  /// The values that the backward takes from the forward.
  llvm::SmallVector<mlir::Value> kept;
  /// The values that depend on a gradient, whether that is an argument or
  /// computed in the block.
  llvm::DenseSet<mlir::Value> late;

private:
  /// The op whose region holds the copy. It stands before the op of `source`.
  mlir::Operation *holder;

public:
  mlir::Block &block;
  mlir::OpBuilder builder;

private:
  mlir::IRMapping copy;
  llvm::SmallVector<mlir::Operation *> backward;
};

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_REGIONJOINT_H
