//===- Joint.h - a model and its derivative in one function -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A joint function returns the results of a model, the loss first, then
// gradients of the loss. It is one block of pure ops, whoever made it: ops that
// the results of the model depend on are the forward computation, all others
// are the backward one.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_JOINT_H
#define VEELINE_AUTODIFF_JOINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "llvm/ADT/MapVector.h"

namespace veeline::autodiff {

/// Makes `model` return, after its own results, the gradients of the first one,
/// the loss, with respect to the arguments that `wanted` marks. Marks of cuts
/// stay behind the values that they mark. Fails with an error at an op that
/// cannot be differentiated. Near linear in the number of ops.
llvm::LogicalResult appendGradients(mlir::func::FuncOp model,
                                    llvm::ArrayRef<bool> wanted,
                                    KernelTarget target);

/// The forward computation of one chunk, in values of the joint function.
struct JointChunk {
  /// Its name, which its function gets with `_joint` behind it.
  std::string name;
  /// Ops that no other chunk has. Each chunk repeats what else it needs.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Values of earlier chunks, and arguments.
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Value> results;
};

/// A gradient that the joint function returns.
struct JointGradient {
  /// The argument that it is the gradient of.
  mlir::Value argument;
  mlir::Value gradient;
};

/// The backward computation of a joint function, cut where its forward
/// computation is cut.
///
/// A chunk runs its backward after all later chunks have run theirs. An op of
/// the backward runs in the latest chunk in which it can: where the forward
/// values are that it uses, and not before the gradients that it uses. Then ops
/// that use no forward value move to earlier chunks where fewer bytes are sent
/// so: a minimum cut between any two chunks. What one chunk sends to an earlier
/// one takes the place of the gradient of a value that the forward sends the
/// other way. So there has to be one, with as many elements, for each value
/// that is sent. A sum of what several chunks contribute to the gradient of one
/// value, or of one parameter, is taken apart, since the runtime adds these up.
class JointCut {
public:
  /// Cuts `joint`, which has no marks; sums of gradients may be added to it.
  /// Fails with an error at a value that cannot be sent, or that is not where
  /// it is needed. O(chunks times ops), and the minimum cuts; for each value
  /// that several chunks take, O(ops), and the size of each sum of its type to
  /// which several chunks add.
  static mlir::FailureOr<JointCut>
  make(mlir::func::FuncOp joint, llvm::ArrayRef<JointChunk> chunks,
       llvm::ArrayRef<JointGradient> gradients);

  /// Arguments of the joint function that only the backward of a chunk uses, or
  /// of which only it gives a gradient.
  llvm::ArrayRef<mlir::Value> getMissingOperands(unsigned chunk) const {
    return parts[chunk].missing;
  }

  /// The joint function of a chunk, in no module. It takes the chunk's
  /// `operands`, then a gradient of each result that is a tensor of floats and
  /// that a later chunk uses. It gives the chunk's results, then a gradient of
  /// each operand that is a tensor of floats of an earlier chunk, or an
  /// argument that `isWanted`.
  mlir::OwningOpRef<mlir::func::FuncOp>
  build(unsigned chunk, llvm::ArrayRef<mlir::Value> operands,
        llvm::function_ref<bool(mlir::Value)> isWanted) const;

  /// What one chunk has in the backward.
  struct Part {
    /// Its forward and backward ops, in order.
    llvm::SmallVector<mlir::Operation *> ops;
    /// For a result of the chunk, the value of the joint function that the
    /// incoming gradient is.
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
