//===- Joint.h - a model and its derivative in one function -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A joint function returns the results of a model, the loss first, then
// gradients of the loss. It is one block of pure ops, and may come from any
// source. Ops that the results of the model depend on are the forward
// computation, all others are the backward computation.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_JOINT_H
#define VEELINE_AUTODIFF_JOINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "llvm/ADT/MapVector.h"

namespace veeline::autodiff {

/// Turns `model` into a joint function: after its own results it also returns
/// the gradients of the first result, the loss, with respect to the arguments
/// that `wanted` marks. Marks of cuts stay after the values that they mark.
/// Fails with an error at an op that cannot be differentiated. Nearly linear in
/// the number of ops.
llvm::LogicalResult appendGradients(mlir::func::FuncOp model,
                                    llvm::ArrayRef<bool> wanted,
                                    KernelTarget target);

/// The forward computation of one chunk, as ops and values of the joint
/// function.
struct JointChunk {
  /// The name of the chunk. Its function has this name with the suffix
  /// `_joint`.
  std::string name;
  /// The ops that no other chunk has. Each chunk repeats all other ops that it
  /// needs.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Values of earlier chunks, and arguments.
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Value> results;
};

/// A gradient that the joint function returns.
struct JointGradient {
  /// The argument that `gradient` is about.
  mlir::Value argument;
  mlir::Value gradient;
};

/// The backward computation of a joint function, cut where its forward
/// computation is cut.
///
/// A chunk runs its backward after all later chunks have run theirs. The cut
/// assigns each op of the backward to a chunk in two steps:
/// - Each op goes to the latest chunk in which it can run: the forward values
///   that it uses are there, and the gradients that it uses come from there or
///   from later chunks.
/// - Ops that use no forward value then move to earlier chunks if fewer bytes
///   are sent that way, by a minimum cut between any two chunks.
///
/// A value that a chunk sends to an earlier one takes the place of the gradient
/// of a value that the forward sends in the other direction. So for each value
/// that is sent there must be such a forward value, with as many elements. A
/// sum of contributions from several chunks to the gradient of one value, or of
/// one parameter, is taken apart, since the runtime adds these up.
class JointCut {
public:
  /// Cuts `joint`, which has no marks. May add sums of gradients to it. Fails
  /// with an error at a value that cannot be sent, or that is not available
  /// where it is needed. O(chunks times ops), plus the minimum cuts. Each value
  /// that several chunks take adds O(ops), and the size of each sum of its type
  /// to which several chunks contribute.
  static mlir::FailureOr<JointCut>
  make(mlir::func::FuncOp joint, llvm::ArrayRef<JointChunk> chunks,
       llvm::ArrayRef<JointGradient> gradients);

  /// The arguments of the joint function that a chunk needs only for its
  /// backward, either as a value or to return their gradient.
  llvm::ArrayRef<mlir::Value> getMissingOperands(unsigned chunk) const {
    return parts[chunk].missing;
  }

  /// Builds the joint function of a chunk, in no module. Its arguments are the
  /// chunk's `operands`, then a gradient of each result that is a tensor of
  /// floats and that a later chunk uses. It returns the chunk's results, then
  /// the gradients of two kinds of operands: tensors of floats from an earlier
  /// chunk, and arguments for which `isWanted` is true.
  mlir::OwningOpRef<mlir::func::FuncOp>
  build(unsigned chunk, llvm::ArrayRef<mlir::Value> operands,
        llvm::function_ref<bool(mlir::Value)> isWanted) const;

  /// The backward part of one chunk.
  struct Part {
    /// Its forward and backward ops, in order.
    llvm::SmallVector<mlir::Operation *> ops;
    /// For a result of the chunk, the value of the joint function that its
    /// incoming gradient stands for.
    llvm::MapVector<mlir::Value, mlir::Value> received;
    /// For an operand of the chunk, its gradient.
    llvm::MapVector<mlir::Value, mlir::Value> given;
    llvm::SmallVector<mlir::Value> missing;
  };

private:
  llvm::SmallVector<JointChunk> chunks;
  llvm::SmallVector<Part> parts;
};

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_JOINT_H
