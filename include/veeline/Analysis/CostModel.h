//===- CostModel.h - what an operation costs --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_COSTMODEL_H
#define VEELINE_ANALYSIS_COSTMODEL_H

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace veeline {

/// Work of one operation, or of several.
struct OpCost {
  /// Arithmetic of matrix products and other contractions, in FLOPs (a
  /// multiply-add is two).
  uint64_t contractionFlops = 0;
  /// Arithmetic of everything else, in FLOPs.
  uint64_t otherFlops = 0;
  /// Bytes read and written, if nothing stays in a cache.
  uint64_t bytes = 0;

  OpCost &operator+=(const OpCost &other) {
    contractionFlops += other.contractionFlops;
    otherFlops += other.otherFlops;
    bytes += other.bytes;
    return *this;
  }
};

/// How fast a rank's device is. The defaults are one core of a server CPU of
/// 2024; only ratios between ops matter for cuts and schedules.
struct Machine {
  /// FLOPs per nanosecond of contractions and of other arithmetic.
  double contractionFlopsPerNs = 150.0;
  double otherFlopsPerNs = 8.0;
  /// Bytes per nanosecond from and to memory.
  double bytesPerNs = 16.0;
};

/// The work of one run of `op`: what the op says, where it has CostOpInterface.
/// Structured ops (linalg) count the arithmetic of their bodies over their
/// iteration space; loops count their bodies times their trip counts where
/// these are constant; views, marks and constants cost nothing; everything else
/// moves its operands and results.
OpCost estimateCost(mlir::Operation *op);

/// The work of everything in `region`.
OpCost estimateCost(mlir::Region &region);

/// Time on `machine`, in nanoseconds: arithmetic and memory overlap.
double estimateNanoseconds(const OpCost &cost, const Machine &machine = {});

/// Bytes of a tensor or memref of static shape, 0 for other types. As in
/// compiled code, an element of 24 or 80 bits takes the next power of two.
uint64_t getByteSize(mlir::Type type);

/// True where `op` is a structured op that multiplies two operands and adds up
/// the products over at least one dimension: a matrix product, a convolution.
bool isContraction(mlir::Operation *op);

} // namespace veeline

#endif // VEELINE_ANALYSIS_COSTMODEL_H
