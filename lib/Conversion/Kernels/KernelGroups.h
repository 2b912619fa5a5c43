//===- KernelGroups.h - groups of ops that run as one kernel ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds groups of structured ops in a block that can run as one loop over rows,
// because they work on the same rows, such as the maximum, exponential, sum and
// quotient of a softmax. Then a row stays in the cache from one op to the next.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_KERNELGROUPS_H
#define VEELINE_LIB_CONVERSION_KERNELS_KERNELGROUPS_H

#include "LoopNest.h"

namespace veeline {

/// A buffer that an op touches as a whole or in part.
struct BufferTouch {
  mlir::Value root;
  bool isWrite;
};

/// The buffers that `op`, or what is in it, touches.
llvm::SmallVector<BufferTouch> getTouches(mlir::Operation *op);

/// True if one of both writes a buffer that the other one touches.
bool conflict(llvm::ArrayRef<BufferTouch> a, llvm::ArrayRef<BufferTouch> b);

/// True if `op` has a result buffer that may alias another buffer.
bool mayAlias(mlir::Operation &op);

/// Ops that run as one kernel, in order.
struct KernelGroup {
  llvm::SmallVector<LoopNest> nests;
  /// The first `numRowLoops` loops of every nest are the same and run once,
  /// with all nests inside. Zero: the nests run one after the other.
  unsigned numRowLoops = 0;

  /// Rows run in parallel rather than in order.
  bool parallelRows = false;

  /// A temporary of this kernel alone, of which one row is enough.
  struct RowBuffer {
    mlir::Value root;
    /// The place of the row's first element where all row loops are at zero,
    /// and the number of elements.
    int64_t offset, size;
  };
  llvm::SmallVector<RowBuffer> rowBuffers;
};

/// One step of a block: a group, or an op that stays as it is.
struct ScheduleEntry {
  KernelGroup group;
  /// Null for a group.
  mlir::Operation *op = nullptr;
  llvm::SmallVector<BufferTouch> touches;

  bool isGroup() const { return !op; }
};

/// What decides which ops run as one kernel.
struct GroupRules {
  /// False: every op on its own.
  bool fuse = true;
  /// Rows run in parallel, on a GPU, rather than in order.
  bool parallelRows = false;
};

/// Orders the ops of `block` into groups and others. Ops only move up, across
/// ops that do not conflict with them (no common buffer that one of both
/// writes). An op whose operands have no static place in a buffer is no group.
/// Fails with a diagnostic at an op without static shapes.
mlir::FailureOr<std::vector<ScheduleEntry>> scheduleKernels(mlir::Block &block,
                                                            GroupRules rules);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_KERNELGROUPS_H
