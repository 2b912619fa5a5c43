//===- Partition.h - dividing a block into two functions --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses which values are kept and which are recomputed when a block is
// divided into two functions, of which the second runs later. Differentiation
// divides a joint block into forward and backward. The split of a backward
// divides it into B and W. Both use this code.
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
  /// The values that the later function has to compute.
  llvm::ArrayRef<mlir::Value> targets;
  /// Whether an op cannot or must not run before the later function.
  llvm::function_ref<bool(mlir::Operation *)> runsLater;
  /// The price of keeping a value until the later function runs, or none if it
  /// must not be kept.
  llvm::function_ref<std::optional<int64_t>(mlir::Value)> price;
  /// The price of running an op in the later function, or none if it must not
  /// run there. Called only for ops that can run earlier.
  llvm::function_ref<std::optional<int64_t>(mlir::Operation *)> recomputePrice;
  /// If set, the choice to repeat. It was made for a block that differs only in
  /// extents. Prices are then ignored.
  const PartitionChoice *follow = nullptr;
};

struct Partition {
  /// The values that the later function takes, in the order in which it needs
  /// them.
  llvm::SmallVector<mlir::Value> kept;
  /// The ops that the later function runs, in order. Those that run a second
  /// time stand just before their first use.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Chooses what to keep and what to recompute, so that the sum of the prices is
/// as small as possible. This is a minimum cut between the block's arguments
/// and the ops that only the later function may run. Of equal cuts, the one
/// that recomputes the fewest ops wins.
Partition choosePartition(const PartitionRequest &request);

/// Records what `partition` keeps of `block`, so that the same choice can be
/// made again.
PartitionChoice noteChoice(mlir::Block &block, const Partition &partition);

/// Fails with an error at the first op of `block` that differs from the ops for
/// which `choice` was made.
mlir::LogicalResult verifyAlike(mlir::Block &block,
                                const PartitionChoice &choice);

/// The price of keeping a byte. All prices are in eighths of such bytes.
inline constexpr int64_t pricePerByte = 8;

/// The price of recomputing an op under one of the policies with prices (None,
/// Balanced, Cheap, Rate), or none if the op is never recomputed.
/// docs/differentiation.md lists the prices. Views, constants and scalars cost
/// nothing under any policy.
std::optional<int64_t> getRecomputePrice(mlir::Operation *op,
                                         const Recompute &policy);

/// The price of those bytes that `op` reads beyond the number that it writes.
int64_t getExcessPrice(mlir::Operation *op);

/// Whether a value can be kept. A scalar cannot be passed between functions.
/// Views, constants and fills are always recomputed.
bool isKeepable(mlir::Value value);

/// The size of a tensor in bytes.
int64_t getNumBytes(mlir::Type type);

/// The ops of a block on which `targets` depend, in order. All targets are of
/// the same block.
llvm::SmallVector<mlir::Operation *>
getBackwardSlice(llvm::ArrayRef<mlir::Value> targets);

/// Creates a function of `ops`, in their order, that returns `results`. It
/// takes those of `arguments` that are used, and `usedArguments` receives their
/// numbers. The function is not in any module.
mlir::OwningOpRef<mlir::func::FuncOp>
extractFunction(mlir::Location loc, llvm::StringRef name,
                llvm::ArrayRef<mlir::Value> arguments,
                llvm::ArrayRef<mlir::Operation *> ops,
                llvm::ArrayRef<mlir::Value> results,
                llvm::SmallVectorImpl<unsigned> &usedArguments);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_PARTITION_H
