//===- LaneEmitter.h - the body of a structured op on vectors ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the scalar body of a structured op for several iterations of one loop
// at once. A value that is the same in all iterations stays a scalar. A value
// that grows by one from lane to lane, such as an index, stays a scalar as long
// as possible. All other values are vectors.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_LANEEMITTER_H
#define VEELINE_LIB_CONVERSION_KERNELS_LANEEMITTER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace veeline {

class LaneEmitter {
public:
  /// Emits code for `lanes` iterations, of which the first `active` exist. For
  /// the others, memory is not accessed, and results are not used. With one
  /// lane, the code is scalar.
  LaneEmitter(mlir::OpBuilder &builder, mlir::Location loc, int64_t lanes,
              int64_t active);

  /// Sets the alignment, in bytes, of contiguous accesses that are emitted from
  /// now on. By default, it is that of an element.
  void setAlignment(int64_t bytes) { alignment = bytes; }

  /// Sets `bodyValue` to `scalar` in every lane.
  void mapUniform(mlir::Value bodyValue, mlir::Value scalar);
  /// Sets `bodyValue` to `vector`.
  void mapVector(mlir::Value bodyValue, mlir::Value vector);
  /// Sets the value of linalg.index of `dim` to `index`, plus the number of the
  /// lane if `isLaneDim`.
  void mapIndex(unsigned dim, mlir::Value index, bool isLaneDim);

  /// Loads the elements `index`, `index + stride`, ... of the one-dimensional
  /// `memref`.
  mlir::Value load(mlir::Value memref, mlir::Value index, int64_t stride);
  void store(mlir::Value vector, mlir::Value memref, mlir::Value index,
             int64_t stride);

  /// Emits `op`, an operation of the body.
  void emit(mlir::Operation *op);

  /// The value of `bodyValue` as a vector over the lanes, or as a scalar if
  /// there is only one lane.
  mlir::Value getVector(mlir::Value bodyValue);

  /// A mask that is true in the lanes that exist. Null if all do.
  mlir::Value getMask();

private:
  /// How a value differs from lane to lane.
  enum class Kind { Uniform, Consecutive, Vector };
  struct Lane {
    Kind kind;
    /// The value in lane 0, unless the kind is Vector.
    mlir::Value scalar;
    mlir::Value vector;
  };

  Lane lookup(mlir::Value bodyValue);
  mlir::Value toVector(Lane &lane);
  void emitUniform(mlir::Operation *op);
  bool emitConsecutive(mlir::Operation *op);
  bool emitIndexCompare(mlir::Operation *op);
  bool emitLoad(mlir::Operation *op);
  bool emitElementwise(mlir::Operation *op);
  void emitPerLane(mlir::Operation *op);
  mlir::Value guardDivisor(mlir::Operation *op, mlir::Value divisor);
  mlir::VectorType vectorOf(mlir::Type elementType) const;
  mlir::Value contiguousLoad(mlir::Value memref, mlir::ValueRange indices);
  mlir::Value offsetIndex(mlir::Value index, int64_t offset);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t lanes;
  int64_t active;
  int64_t alignment = 0;
  llvm::DenseMap<mlir::Value, Lane> values;
  llvm::DenseMap<unsigned, Lane> indices;
  mlir::Value mask;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_LANEEMITTER_H
