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

/// What an argument of a chunk's primal function is.
enum class OperandKind {
  /// A batch argument or a buffer: there whenever it is needed, no gradient.
  Constant,
  /// A trainable parameter: there whenever it is needed.
  Parameter,
  /// A value of an edge whose gradient is wanted.
  EdgeValue,
  /// A value of an edge whose gradient is not wanted: an integer, or a value
  /// on which no parameter has an influence.
  PassiveEdgeValue,
};

/// What is to be differentiated, and with respect to what.
struct ChunkDescription {
  /// For each argument of the primal function.
  llvm::SmallVector<OperandKind> operands;
  /// For each result, whether a gradient of it comes in.
  llvm::SmallVector<bool> hasResultGradient;
  /// The number of the result whose gradient is the constant 1 instead.
  std::optional<unsigned> loss;
  /// What the backward function recomputes; anything but Auto. For a tail of
  /// pieces: they end at the ops of the primal function that are marked
  /// `pipe.piece_end`.
  Recompute recompute = {};
  /// If given, the backward keeps what was chosen for the same chunk at another
  /// length.
  const PartitionChoice *follow = nullptr;
  /// If given, the derivative that somebody else has made: it takes the
  /// arguments of the primal function, then the incoming gradients, and gives
  /// its results, then the gradients of parameters and edge values, in order.
  /// The gradient of the loss is part of it.
  mlir::func::FuncOp joint = {};
  /// Where it runs: ops that the library there computes stay whole.
  KernelTarget target = KernelTarget::Host;
};

/// The functions of a chunk, each with `pipe.role`s as docs/architecture.md
/// describes them, in no module. They are named after the primal function.
struct DifferentiatedChunk {
  mlir::OwningOpRef<mlir::func::FuncOp> forward;
  /// Null where no gradient is wanted.
  mlir::OwningOpRef<mlir::func::FuncOp> backward;
  PartitionChoice choice;
};

/// Differentiates a chunk in reverse mode. Fails with an error at the op, or at
/// the function, that cannot be differentiated. Near linear in the number of
/// ops.
llvm::FailureOr<DifferentiatedChunk>
differentiateChunk(mlir::func::FuncOp primal,
                   const ChunkDescription &description);

/// The two halves of a backward function. The first is null where the backward
/// has no gradient of an operand, the second where it has none of a parameter.
struct SplitBackward {
  mlir::OwningOpRef<mlir::func::FuncOp> input;
  mlir::OwningOpRef<mlir::func::FuncOp> weight;
  PartitionChoice choice;
};

/// Splits a fused backward function by data flow. The first half computes what
/// the gradients of operands need, and saves what the second half needs of it
/// and cannot cheaply recompute. Both run the ops of `backward` in its order,
/// so their results are bitwise its results. `isConstant(i)` says whether
/// operand i of the chunk is there whenever it is needed. A chunk that
/// recomputes all, or a tail, does so once: the second half then recomputes
/// what Balanced does. With `follow` the choice is that of the same chunk at
/// another length. Fails with an error at the function if its roles are not
/// those of a backward function.
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
