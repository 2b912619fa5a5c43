//===- ProductCalls.h - calls of products and their readers -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_PRODUCTCALLS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_PRODUCTCALLS_H

#include "veeline/Conversion/Gemm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace veeline {

/// A call of the library that is the only writer of a buffer.
struct ProductCall {
  mutable mlir::func::CallOp call;
  GemmDesc desc;
  mlir::Value result; ///< The buffer. The product is at its start.
  /// Whether the buffer is a temporary.
  bool isTemporary = false;
  /// The ops in the call's block that read the buffer.
  llvm::SmallVector<mlir::Operation *> readers;

  /// None if the buffer is unknown, or if something else writes it, too.
  static std::optional<ProductCall> match(mlir::func::CallOp call,
                                          const GemmDesc &desc);

  /// `op` if it is an elementwise op with one result after the call, else null.
  mlir::linalg::GenericOp getReader(mlir::Operation *op) const;
  /// The only reader of a temporary, if it is such an op, else null.
  mlir::linalg::GenericOp getOnlyReader() const;

  /// True if the buffer is an m x n matrix stored by rows, and nothing else.
  bool isStoredByRows() const;
  /// True for a dense operand with as many elements as the product, one for
  /// each iteration in the order of the loops.
  bool isWhole(mlir::linalg::GenericOp op, mlir::OpOperand &operand) const;
  /// True if `operand` is the whole product.
  bool isProduct(mlir::linalg::GenericOp op, mlir::OpOperand &operand) const;

  /// True if no op between the call and `reader` writes `buffer` or, with
  /// `alsoReads`, reads it.
  bool isUntouched(mlir::Value buffer, mlir::Operation *reader,
                   bool alsoReads) const;
  /// True if `target` can be the result of the call instead: no op before
  /// `reader` accesses it, and the call does not read it.
  bool canTarget(mlir::Value target, mlir::Operation *reader) const;
  /// True if the call can move to the place of `reader` and have `target` as
  /// its result: no op until there writes what the call reads, and the call
  /// does not read `target`.
  bool canMoveTo(mlir::Operation *reader, mlir::Value target) const;
  /// If `memref` is defined after the call, moves it before the call. Returns
  /// false if that is impossible.
  bool provide(mlir::Value memref) const;
};

/// The buffer or view that starts at `pointer`, an operand of a call with an
/// epilogue. Null for a null pointer.
mlir::Value getStartOf(mlir::Value pointer);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_PRODUCTCALLS_H
