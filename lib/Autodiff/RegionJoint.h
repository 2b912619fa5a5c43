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

/// A copy of the one block of a region, with its adjoint behind it, before it
/// is decided what the forward keeps for the backward. Values from outside of
/// the region are used as they are.
class RegionJoint {
public:
  /// `mapped` has the values of those arguments of `source` that the copy does
  /// not get; it gets all others.
  RegionJoint(mlir::Block &source, const mlir::IRMapping &mapped);
  ~RegionJoint() { holder->erase(); }

  /// Differentiates the copy. `active` are the values of `source` that carry
  /// gradients, `seeds` pairs of a value of `source` and its gradient, which
  /// may be an argument added to `block`.
  llvm::LogicalResult
  differentiate(const llvm::DenseSet<mlir::Value> &active,
                llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> seeds);

  /// Decides what to keep, if `targets` are what the backward has to give.
  void partition(llvm::ArrayRef<mlir::Value> targets);

  /// Clones what the forward computation needs to give `results`.
  void cloneForward(mlir::OpBuilder &at, llvm::ArrayRef<mlir::Value> results,
                    mlir::IRMapping &mapping);

  /// A part of the backward.
  struct Part {
    llvm::SmallVector<mlir::Operation *> ops;
    /// What it takes from other parts.
    llvm::SetVector<mlir::Value> taken;
  };
  /// The ops of the backward that compute `targets`, but for values that
  /// `isGiven`.
  Part selectBackward(llvm::ArrayRef<mlir::Value> targets,
                      llvm::function_ref<bool(mlir::Value)> isGiven) const;

  /// The copy of a value of `source`.
  mlir::Value get(mlir::Value value) { return copy.lookupOrDefault(value); }

  /// What the copy yields.
  mlir::ValueRange yielded() { return block.getTerminator()->getOperands(); }

  std::unique_ptr<BlockAdjoint> adjoint;
  /// What the backward takes from the forward.
  llvm::SmallVector<mlir::Value> kept;
  /// Values that depend on a gradient, from outside or inside of the block.
  llvm::DenseSet<mlir::Value> late;

private:
  /// The op whose region has the copy; it stands before that of `source`.
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
