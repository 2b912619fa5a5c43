//===- Partition.h - dividing a block into two functions --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses which values are kept and which are recomputed, when a block is
// divided into two functions of which the second runs later. Differentiation
// divides a joint block into forward and backward, and the split divides a
// backward into B and W. Both use this code.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_PARTITION_H
#define VEELINE_LIB_AUTODIFF_PARTITION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Analysis/Recompute.h"
#include "veeline/Autodiff/PartitionChoice.h"

namespace veeline::autodiff {

struct PartitionRequest {
  /// What the later function has to give.
  llvm::ArrayRef<mlir::Value> targets;
  /// Whether an op cannot run, or must not run, before the later function.
  llvm::function_ref<bool(mlir::Operation *)> runsLater;
  /// What it costs to keep a value alive until the later function runs, or
  /// none where that is not allowed.
  llvm::function_ref<std::optional<int64_t>(mlir::Value)> price;
  /// What it costs to run an op in the later function, or none where it must
  /// not run there. To be asked of ops that can run before it.
  llvm::function_ref<std::optional<int64_t>(mlir::Operation *)> recomputePrice;
  /// If given, the choice is made already, for a block that differs in extents
  /// only; prices do not count then.
  const PartitionChoice *follow = nullptr;
};

struct Partition {
  /// What the later function takes, in the order in which it needs it.
  llvm::SmallVector<mlir::Value> kept;
  /// What it runs, in order. Ops that run again stand just before their first
  /// use.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Chooses what to keep and what to run again so that both together cost least:
/// a minimum cut between the block's arguments and what only the later function
/// may run. Among equal cuts the one that runs fewest ops again wins.
Partition choosePartition(const PartitionRequest &request);

/// Notes what `partition` keeps of `block`, to make the same choice again.
PartitionChoice noteChoice(mlir::Block &block, const Partition &partition);

/// Fails with an error at the first op of `block` that differs from those that
/// `choice` was made for.
mlir::LogicalResult verifyAlike(mlir::Block &block,
                                const PartitionChoice &choice);

/// Prices are in eighths of bytes that are kept.
inline constexpr int64_t pricePerByte = 8;

/// What running the op again costs under one of the policies with prices (None,
/// Balanced, Cheap, Rate), or none where the op is never run again.
/// docs/differentiation.md lists the prices. Views, constants and scalars cost
/// nothing under any policy.
std::optional<int64_t> getRecomputePrice(mlir::Operation *op,
                                         const Recompute &policy);

/// The price of the bytes that `op` reads beyond those that it writes.
int64_t getExcessPrice(mlir::Operation *op);

/// Whether a value can be kept. A scalar cannot cross between functions;
/// views, constants and fills are always computed again.
bool isKeepable(mlir::Value value);

/// Bytes of a tensor.
int64_t getNumBytes(mlir::Type type);

/// The ops of one block on which `targets` depend, in order.
llvm::SmallVector<mlir::Operation *>
getBackwardSlice(llvm::ArrayRef<mlir::Value> targets);

/// A function of `ops`, in their order, that gives `results`. It takes those
/// of `arguments` that are used; `usedArguments` receives their numbers. It is
/// not in any module.
mlir::OwningOpRef<mlir::func::FuncOp>
extractFunction(mlir::Location loc, llvm::StringRef name,
                llvm::ArrayRef<mlir::Value> arguments,
                llvm::ArrayRef<mlir::Operation *> ops,
                llvm::ArrayRef<mlir::Value> results,
                llvm::SmallVectorImpl<unsigned> &usedArguments);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_PARTITION_H
