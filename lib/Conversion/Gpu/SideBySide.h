//===- SideBySide.h - several kernels in one launch -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_SIDEBYSIDE_H
#define VEELINE_LIB_CONVERSION_GPU_SIDEBYSIDE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace veeline {

/// Makes one kernel of several independent ones. Each has its own blocks: the
/// first blocks run the first kernel, and so on.
class SideBySide {
public:
  /// Adds a kernel with the arguments of the whole. Returns false if its blocks
  /// do not fit: they have more than one dimension or, with barriers, another
  /// number of threads.
  bool add(mlir::gpu::GPUFuncOp part);
  /// Emits the code of all kernels into `target`, which is empty except for its
  /// terminator, and erases them.
  void emit(mlir::gpu::GPUFuncOp target);

private:
  void emitSome(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp target,
                llvm::ArrayRef<int64_t> begins, size_t first, size_t end);

  llvm::SmallVector<mlir::gpu::GPUFuncOp> parts;
  int64_t threads = 0;
  bool barriers = false;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_SIDEBYSIDE_H
