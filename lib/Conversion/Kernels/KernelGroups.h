//===- KernelGroups.h - groups of ops that run as one kernel ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds groups of structured ops in a block that can run as one loop over rows,
// because they work on the same rows. An example are the maximum, exponential,
// sum and quotient of a softmax. A row then stays in the cache from one op to
// the next.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_KERNELGROUPS_H
#define VEELINE_LIB_CONVERSION_KERNELS_KERNELGROUPS_H

#include "LoopNest.h"

namespace veeline {

/// A buffer that an op reads or writes, as a whole or in part.
struct BufferTouch {
  mlir::Value root;
  bool isWrite;
};

/// The buffers that `op`, or an op in its regions, reads or writes.
llvm::SmallVector<BufferTouch> getTouches(mlir::Operation *op);

/// True if one of them writes a buffer that the other one reads or writes.
bool conflict(llvm::ArrayRef<BufferTouch> a, llvm::ArrayRef<BufferTouch> b);

/// True if `op` has a result buffer that may alias another buffer.
bool mayAlias(mlir::Operation &op);

/// Ops that run as one kernel, in order.
struct KernelGroup {
  llvm::SmallVector<LoopNest> nests;
  /// The number of row loops. They are the first loops of every nest, equal for
  /// all, and run once with all nests inside. If it is 0, the nests run one
  /// after the other.
  unsigned numRowLoops = 0;

  /// Whether rows run in parallel instead of in order.
  bool parallelRows = false;

  /// A temporary that only this kernel uses, and of which one row is enough.
  struct RowBuffer {
    mlir::Value root;
    /// The place of the row's first element if all row loops are at zero, and
    /// the number of elements.
    int64_t offset, size;
  };
  llvm::SmallVector<RowBuffer> rowBuffers;
};

/// One step of a block: a group, or an op that is not changed.
struct ScheduleEntry {
  KernelGroup group;
  /// The op that is not changed, or null for a group.
  mlir::Operation *op = nullptr;
  llvm::SmallVector<BufferTouch> touches;

  bool isGroup() const { return !op; }
};

/// Determines which ops run as one kernel.
struct GroupRules {
  /// Whether to form groups at all.
  bool fuse = true;
  /// Whether rows run in parallel, on a GPU, instead of in order.
  bool parallelRows = false;
};

/// Divides the ops of `block` into groups and others. Ops only move up, and
/// only across ops that do not conflict with them (no common buffer that one of
/// them writes). An op with an operand at no static place in a buffer is not in
/// a group. Fails with a diagnostic at an op without static shapes.
mlir::FailureOr<std::vector<ScheduleEntry>> scheduleKernels(mlir::Block &block,
                                                            GroupRules rules);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_KERNELGROUPS_H
