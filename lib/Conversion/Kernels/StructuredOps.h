//===- StructuredOps.h - questions about structured ops ---------*- C++ -*-===//
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
/// dimension that is summed over: a matrix product in any arrangement.
bool isMatrixProduct(mlir::linalg::LinalgOp op);

/// The buffer that `memref` is a view of, through any chain of views whose
/// types tell where in it they are (all but memref.view).
mlir::Value getRootBuffer(mlir::Value memref);

/// False if `use` of a buffer only reads it.
bool isWrite(mlir::OpOperand &use);

/// Ops of a block that touch a buffer, or hold ops that do, through any views.
struct BufferUses {
  BufferUses(mlir::Value root, mlir::Block *block);

  llvm::SmallVector<mlir::Operation *> readers, writers;
  /// False if there are users elsewhere, or values that may be the same buffer.
  bool isKnown = true;

private:
  void add(mlir::Value value, mlir::Block *block);
};

/// Removes copies from temporaries by computing straight into their targets,
/// where nothing that happens between forbids it, and copies to themselves.
void removeCopies(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

/// On an op that takes the address of a buffer: it is only read through it.
inline constexpr llvm::StringLiteral readsOnlyAttrName = "pipe.reads_only";

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_STRUCTUREDOPS_H
