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

/// The work of one or several operations.
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

/// The speed of a rank's device. The defaults are those of one core of a server
/// CPU of 2024. For cuts and schedules only ratios between ops matter.
struct Machine {
  /// FLOPs per nanosecond of contractions and of other arithmetic.
  double contractionFlopsPerNs = 150.0;
  double otherFlopsPerNs = 8.0;
  /// Bytes per nanosecond from and to memory.
  double bytesPerNs = 16.0;
};

/// The work of one run of `op`:
/// - an op with CostOpInterface: what the interface returns;
/// - a structured op (linalg): the arithmetic of its body over its iteration
///   space;
/// - a loop: its body times its trip count, if that is constant;
/// - views, marks and constants: nothing;
/// - everything else: moving its operands and results.
OpCost estimateCost(mlir::Operation *op);

/// The work of all ops in `region`.
OpCost estimateCost(mlir::Region &region);

/// The time on `machine`, in nanoseconds. Arithmetic and memory traffic
/// overlap.
double estimateNanoseconds(const OpCost &cost, const Machine &machine = {});

/// The bytes of a tensor or memref of static shape; 0 for other types. An
/// element of 24 or 80 bits takes the next power of two, as in compiled code.
uint64_t getByteSize(mlir::Type type);

/// True if `op` is a structured op that multiplies two operands and adds up the
/// products over at least one dimension, such as a matrix product or a
/// convolution.
bool isContraction(mlir::Operation *op);

} // namespace veeline

#endif // VEELINE_ANALYSIS_COSTMODEL_H
