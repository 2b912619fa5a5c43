//===- AttentionProblem.h - an attention op in a kernel ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the sizes of an attention op in a kernel function, and the places of
// its operands in the buffers that are the kernel's arguments.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_ATTENTIONPROBLEM_H
#define VEELINE_LIB_CONVERSION_GPU_ATTENTIONPROBLEM_H

#include "veeline/Dialect/Pipe/IR/Attention.h"

namespace veeline {

/// An operand, as a part of one of the kernel's buffers.
struct AttentionBuffer {
  mlir::Value base;
  mlir::Type elementType;
  int64_t offset = 0;
  /// The stride of each dimension of the batch.
  llvm::SmallVector<int64_t> batchStrides;
  /// The distances of rows and of elements of a row. Elements are adjacent,
  /// except in a mask.
  int64_t rowStride = 0, columnStride = 1;

  explicit operator bool() const { return base != nullptr; }
};

struct AttentionProblem {
  /// Fails with a diagnostic if the place of an operand is not static.
  static mlir::FailureOr<AttentionProblem> read(pipe::AttentionOpInterface op);

  mlir::Operation *op = nullptr;
  /// The extents of the query's batch. `group` indices of its last dimension
  /// share a key.
  llvm::SmallVector<int64_t> batch;
  int64_t group = 1;
  int64_t queries = 0, keys = 0;
  /// The number of elements of a row of queries and keys, and of a row of
  /// values.
  int64_t depth = 0, valueDepth = 0;
  double scale = 1, fill = 0;
  bool isCausal = false;
  /// Whether numbers of f32 may be multiplied in tf32.
  bool tf32 = false;

  AttentionBuffer query, key, value, mask;
  /// Operands of the derivatives.
  AttentionBuffer outputGrad, delta;
  /// An operand of the derivatives, or a result of the forward.
  AttentionBuffer lse;
  /// The other results: the output, the query's gradient, or the gradients of
  /// key and value.
  llvm::SmallVector<AttentionBuffer, 2> results;

  mlir::Type elementType() const { return query.elementType; }
  bool hasBooleanMask() const { return mask && mask.elementType.isInteger(1); }
  /// The extents of the batch of keys and values.
  llvm::SmallVector<int64_t> getKeyBatch() const;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_ATTENTIONPROBLEM_H
