//===- MachineCost.h - times by a machine's table ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_MACHINECOST_H
#define VEELINE_ANALYSIS_MACHINECOST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/MachineTable.h"

namespace veeline {

/// The bytes that one run of `block` touches: its arguments, and what its ops
/// write. Linear in the number of ops.
uint64_t getFootprint(mlir::Block &block);

/// Estimates the times of a function's ops, in nanoseconds, on one core of the
/// machine of a table. Ops must be estimated in the order in which they run.
/// The time to move a value depends on its reuse distance, the bytes touched
/// since its last use, which determines the cache that still holds it.
class MachineCost {
public:
  /// `cycle` is the number of bytes touched between two runs of the function.
  /// It is the reuse distance of the function's arguments and of the memory
  /// that it writes.
  MachineCost(const MachineTable &table, uint64_t cycle)
      : table(table), cycle(cycle) {}

  /// The time of one run of `op`. Products and convolutions take the time of
  /// library calls of their class. All other ops take the longer of their
  /// arithmetic and the movement of their operands and results. Values that
  /// only loops use are not moved, because these loops compute them.
  double estimate(mlir::Operation *op);

  /// The time to add a gradient of `bytes`, which was just computed, to the sum
  /// over earlier microbatches.
  double estimateAccumulation(uint64_t bytes) const;

private:
  double estimate(mlir::Region &region);
  double estimateConvolution(mlir::linalg::LinalgOp op,
                             const Convolution &convolution);
  double estimateProduct(mlir::linalg::LinalgOp op);
  double estimateConversions(mlir::linalg::LinalgOp op) const;
  double estimateLoops(mlir::linalg::LinalgOp op);
  double estimateAttention(mlir::Operation *op);
  double estimateCopy(mlir::Operation *op);
  double estimateWork(mlir::Operation *op);

  double timeOf(llvm::StringRef name, double size, double amount) const;
  double timeOfBytes(llvm::StringRef name, uint64_t bytes) const;
  double timeToMove(llvm::StringRef name, uint64_t bytes, uint64_t size,
                    uint64_t distance) const;
  uint64_t getDistance(mlir::Value value) const;
  void touch(mlir::Value value, uint64_t bytes);

  const MachineTable &table;
  uint64_t cycle;
  /// The bytes touched so far, and the value of `clock` at the last use of each
  /// value.
  uint64_t clock = 0;
  llvm::DenseMap<mlir::Value, uint64_t> lastUses;
};

} // namespace veeline

#endif // VEELINE_ANALYSIS_MACHINECOST_H
