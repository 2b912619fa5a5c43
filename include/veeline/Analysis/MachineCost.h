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

/// The bytes that go by in one run of `block`: its arguments and what its ops
/// write. Linear in its ops.
uint64_t getFootprint(mlir::Block &block);

/// How long the ops of a function take on one core of the machine that a table
/// is of, in nanoseconds. Ops are asked for in the order in which they run:
/// what they move comes from the cache that still has it, which the bytes that
/// have gone by since decide (the reuse distance).
class MachineCost {
public:
  /// Between two runs of the function so many bytes as `cycle` go by: so long
  /// ago its arguments and the places that it writes were last used.
  MachineCost(const MachineTable &table, uint64_t cycle)
      : table(table), cycle(cycle) {}

  /// One run of `op`. Products and convolutions take what calls of the library
  /// of their class do. Everything else reads and writes memory at the speed of
  /// its bytes, but for what only other loops use: that they compute on the
  /// way.
  double estimate(mlir::Operation *op);

  /// Adding a gradient of so many bytes, which was just computed, to that of
  /// earlier microbatches.
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

  double timeOf(llvm::StringRef name, double size, double amount) const;
  double timeOfBytes(llvm::StringRef name, uint64_t bytes) const;
  double timeToMove(llvm::StringRef name, uint64_t bytes, uint64_t size,
                    uint64_t distance) const;
  uint64_t getDistance(mlir::Value value) const;
  void touch(mlir::Value value, uint64_t bytes);

  const MachineTable &table;
  uint64_t cycle;
  /// Bytes that have gone by so far, and when a value was last used.
  uint64_t clock = 0;
  llvm::DenseMap<mlir::Value, uint64_t> lastUses;
};

} // namespace veeline

#endif // VEELINE_ANALYSIS_MACHINECOST_H
