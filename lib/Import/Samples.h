//===- Samples.h - values with several samples ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_SAMPLES_H
#define VEELINE_LIB_IMPORT_SAMPLES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace veeline {

/// The values that have samples, each with its dimension of samples. The extent
/// of this dimension is the number of samples times that of one sample, with
/// the sample as the slower part. A scalar, of rank 0 for one sample, has rank
/// 1 for several.
class Samples {
public:
  explicit Samples(int64_t size) : size(size) {}

  int64_t getSize() const { return size; }
  /// None for a value that is the same for all samples.
  std::optional<unsigned> dimensionOf(mlir::Value value) const;
  bool isScalar(mlir::Value value) const { return scalars.contains(value); }
  void set(mlir::Value value, unsigned dimension) {
    dimensions[value] = dimension;
  }
  void setScalar(mlir::Value value) {
    set(value, 0);
    scalars.insert(value);
  }

  mlir::RankedTensorType scale(mlir::RankedTensorType type,
                               unsigned dimension) const;
  /// Gives `value` samples by changing its type.
  void scale(mlir::Value value, unsigned dimension);
  /// Replaces the only result of `op` by `value`, which has samples.
  void replace(mlir::Operation *op, mlir::Value value, unsigned dimension);
  /// If `operand` has no samples, repeats its value for every sample.
  void ensure(mlir::OpOperand &operand, unsigned dimension);
  /// Returns `value` with samples in a dimension of their own, which is
  /// inserted at `position` into those of one sample. If `value` has no
  /// samples, it is repeated.
  mlir::Value widen(mlir::OpBuilder &builder, mlir::Value value,
                    unsigned position);
  /// The inverse of `widen`: merges the dimension of samples at `position` with
  /// another one.
  mlir::Value narrow(mlir::OpBuilder &builder, mlir::Value value,
                     unsigned position);
  /// Replaces the only result of `op` by `value`, which has the form that
  /// `widen` returns.
  void replaceByWide(mlir::Operation *op, mlir::Value value, unsigned position);
  /// Repeats `value` along a new dimension `at`.
  mlir::Value repeatAlong(mlir::OpBuilder &builder, mlir::Value value,
                          unsigned at, int64_t count) const;
  /// Merges dimension `dimension` with the next one.
  static mlir::Value merge(mlir::OpBuilder &builder, mlir::Value value,
                           unsigned dimension);
  /// Moves the samples of `operand` to another dimension: by reshapes if all
  /// extents between are 1, else by a transposition.
  void move(mlir::OpOperand &operand, unsigned to);

  /// Emits an error at an op that mixes samples, or might do so.
  static mlir::LogicalResult refuse(mlir::Operation *op,
                                    const llvm::Twine &why);

private:
  bool isReshape(mlir::Value value, unsigned to) const;
  mlir::Value reshape(mlir::OpBuilder &builder, mlir::Value value,
                      unsigned to) const;
  mlir::Value split(mlir::OpBuilder &builder, mlir::Value value) const;
  mlir::Value repeat(mlir::Value value, unsigned dimension, bool isWide);

  int64_t size;
  llvm::DenseMap<mlir::Value, unsigned> dimensions;
  llvm::DenseSet<mlir::Value> scalars;
  /// Repeated values, by value and dimension. Those of `repeatedWide` have
  /// samples in a dimension of their own.
  using Repeated =
      llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value>;
  Repeated repeated, repeatedWide;
};

/// Gives the results of a structured op samples because operands, or tensors
/// that its body reads, have some.
mlir::LogicalResult addSamples(mlir::linalg::LinalgOp op, Samples &samples);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_SAMPLES_H
