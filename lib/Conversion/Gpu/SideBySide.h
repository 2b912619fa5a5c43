//===- SideBySide.h - several kernels in one launch -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_SIDEBYSIDE_H
#define VEELINE_LIB_CONVERSION_GPU_SIDEBYSIDE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace veeline {

/// Makes one kernel of several that do not depend on each other. Each has
/// blocks of its own: the first ones run the first part, and so on.
class SideBySide {
public:
  /// Adds a kernel with the arguments of the whole. False if its blocks are of
  /// another form: of more than one dimension or, with barriers, of another
  /// number of threads.
  bool add(mlir::gpu::GPUFuncOp part);
  /// Writes the code of all into `target`, which has none but its end, and
  /// erases them.
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
