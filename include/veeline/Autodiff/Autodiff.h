//===- Autodiff.h - derivatives of chunk functions --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_AUTODIFF_H
#define VEELINE_AUTODIFF_AUTODIFF_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Analysis/Recompute.h"
#include "veeline/Autodiff/PartitionChoice.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

namespace veeline::autodiff {

/// The kind of an argument of a chunk's primal function.
enum class OperandKind {
  /// A batch argument or a buffer: always available, without a gradient.
  Constant,
  /// A trainable parameter: always available.
  Parameter,
  /// A value of an edge whose gradient is wanted.
  EdgeValue,
  /// A value of an edge whose gradient is not wanted: an integer, or a value
  /// that depends on no parameter.
  PassiveEdgeValue,
};

/// The subject of a differentiation.
struct ChunkDescription {
  /// For each argument of the primal function.
  llvm::SmallVector<OperandKind> operands;
  /// For each result, whether the backward takes a gradient of it.
  llvm::SmallVector<bool> hasResultGradient;
  /// The number of the result that is the loss. Its gradient is the constant 1.
  std::optional<unsigned> loss;
  /// What the backward function recomputes; any policy except Auto. For Tail,
  /// pieces end at the ops of the primal function that are marked
  /// `pipe.piece_end`.
  Recompute recompute = {};
  /// If given, the backward keeps the values that were chosen for the same
  /// chunk at another length.
  const PartitionChoice *follow = nullptr;
  /// If given, a derivative that is used instead of our own. It takes the
  /// arguments of the primal function, then the incoming gradients. It returns
  /// the results of the primal function, then the gradients of parameters and
  /// edge values, in order. It includes the gradient of the loss.
  mlir::func::FuncOp joint = {};
  /// The target that the chunk runs on. Ops that its library computes stay
  /// whole.
  KernelTarget target = KernelTarget::Host;
};

/// The functions of a chunk, each with the `pipe.role`s that
/// docs/architecture.md describes. They are in no module, and named after the
/// primal function.
struct DifferentiatedChunk {
  mlir::OwningOpRef<mlir::func::FuncOp> forward;
  /// Null if no gradient is wanted.
  mlir::OwningOpRef<mlir::func::FuncOp> backward;
  PartitionChoice choice;
};

/// Differentiates a chunk in reverse mode. Fails with an error at the op, or
/// the function, that cannot be differentiated. Nearly linear in the number of
/// ops.
llvm::FailureOr<DifferentiatedChunk>
differentiateChunk(mlir::func::FuncOp primal,
                   const ChunkDescription &description);

/// The two halves of a backward function: B and W. `input` is null if the
/// backward has no gradient of an operand, `weight` if it has none of a
/// parameter.
struct SplitBackward {
  mlir::OwningOpRef<mlir::func::FuncOp> input;
  mlir::OwningOpRef<mlir::func::FuncOp> weight;
  PartitionChoice choice;
};

/// Splits a fused backward function by data flow. The first half computes what
/// the gradients of operands need. It saves the values that the second half
/// needs and cannot cheaply recompute. Both halves run the ops of `backward` in
/// its order, so their results have the same bits. `isConstant(i)` tells
/// whether operand i of the chunk is always available. With the policies Full
/// and Tail only the first half recomputes by the policy; the second half
/// recomputes as with Balanced. With `follow` the choice is that of the same
/// chunk at another length. Fails with an error at the function if its roles
/// are not those of a backward function.
llvm::FailureOr<SplitBackward>
splitBackward(mlir::func::FuncOp backward, llvm::StringRef chunkName,
              llvm::function_ref<bool(unsigned)> isConstant,
              const Recompute &recompute = {},
              const PartitionChoice *follow = nullptr);

/// A backward function whose recomputation is a function of its own. Both are
/// null where there is none.
struct SplitRecomputation {
  mlir::OwningOpRef<mlir::func::FuncOp> recomputation;
  /// In place of the backward function, with its name.
  mlir::OwningOpRef<mlir::func::FuncOp> backward;
  PartitionChoice choice;
};

/// Takes out of a fused backward function what it computes without an incoming
/// gradient, so that this can run ahead of the rest. What Balanced would
/// compute again stays in the backward. Where that is all, or where the chunk
/// has no incoming gradient, there is no recomputation. Both functions run the
/// ops of `backward`, so results are bitwise the same. `isConstant`, `follow`
/// and errors are those of `splitBackward`, which comes later.
llvm::FailureOr<SplitRecomputation>
splitRecomputation(mlir::func::FuncOp backward, llvm::StringRef chunkName,
                   llvm::function_ref<bool(unsigned)> isConstant,
                   const PartitionChoice *follow = nullptr);

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_AUTODIFF_H
