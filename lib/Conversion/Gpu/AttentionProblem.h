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

/// An operand as a part of one of the kernel's buffers.
struct AttentionBuffer {
  mlir::Value base;
  mlir::Type elementType;
  int64_t offset = 0;
  /// One for each dimension of the batch.
  llvm::SmallVector<int64_t> batchStrides;
  /// How far rows lie apart; elements of a row lie side by side, but for a
  /// mask.
  int64_t rowStride = 0, columnStride = 1;

  explicit operator bool() const { return base != nullptr; }
};

struct AttentionProblem {
  /// Fails with a diagnostic where the place of an operand is not static.
  static mlir::FailureOr<AttentionProblem> read(pipe::AttentionOpInterface op);

  mlir::Operation *op = nullptr;
  /// The query's batch; `group` indices of its last dimension share a key.
  llvm::SmallVector<int64_t> batch;
  int64_t group = 1;
  int64_t queries = 0, keys = 0;
  /// Elements of a row of queries and keys, and of one of values.
  int64_t depth = 0, valueDepth = 0;
  double scale = 1, fill = 0;
  bool isCausal = false;
  /// Numbers of f32 may be multiplied in tf32.
  bool tf32 = false;

  AttentionBuffer query, key, value, mask;
  /// Of derivatives.
  AttentionBuffer outputGrad, delta;
  /// Of derivatives an operand, else a result.
  AttentionBuffer lse;
  /// The other results: the output, the query's gradient, or the key's and
  /// the value's.
  llvm::SmallVector<AttentionBuffer, 2> results;

  mlir::Type elementType() const { return query.elementType; }
  bool hasBooleanMask() const { return mask && mask.elementType.isInteger(1); }
  /// The batch that keys and values have.
  llvm::SmallVector<int64_t> getKeyBatch() const;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_ATTENTIONPROBLEM_H
