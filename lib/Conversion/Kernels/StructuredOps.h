//===- StructuredOps.h - queries on structured ops --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_STRUCTUREDOPS_H
#define VEELINE_LIB_CONVERSION_KERNELS_STRUCTUREDOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace veeline {

/// True for a sum of products of two operands that has rows, columns and a
/// dimension that is summed: a matrix product in any arrangement.
bool isMatrixProduct(mlir::linalg::LinalgOp op);

/// The buffer that `memref` is a view of, through any chain of views with a
/// known place in it (all views but memref.view).
mlir::Value getRootBuffer(mlir::Value memref);

/// False if `use` of a buffer only reads it.
bool isWrite(mlir::OpOperand &use);

/// The ops of a block that use a buffer through any views, or contain ops that
/// do.
struct BufferUses {
  BufferUses(mlir::Value root, mlir::Block *block);

  llvm::SmallVector<mlir::Operation *> readers, writers;
  /// False if there are users elsewhere, or values that may be the same buffer.
  bool isKnown = true;

private:
  void add(mlir::Value value, mlir::Block *block);
};

/// Removes copies of temporaries by computing directly in their targets, if no
/// op in between prevents that. Also removes copies of a buffer to itself.
void removeCopies(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

/// An attribute of an op that takes the address of a buffer: the buffer is only
/// read through this address.
inline constexpr llvm::StringLiteral readsOnlyAttrName = "pipe.reads_only";

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_STRUCTUREDOPS_H
