//===- Samples.h - values with several samples ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_SAMPLES_H
#define VEELINE_LIB_IMPORT_SAMPLES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace veeline {

/// Which values have samples, and in which dimension: its extent is the number
/// of samples times that of one sample, the sample being the slower part.
class Samples {
public:
  explicit Samples(int64_t size) : size(size) {}

  int64_t getSize() const { return size; }
  /// None of a value that is the same for all samples.
  std::optional<unsigned> dimensionOf(mlir::Value value) const;
  void set(mlir::Value value, unsigned dimension) {
    dimensions[value] = dimension;
  }

  mlir::RankedTensorType scale(mlir::RankedTensorType type,
                               unsigned dimension) const;
  /// Gives `value` samples: its type changes.
  void scale(mlir::Value value, unsigned dimension);
  /// `value`, which has samples, stands for the only result of `op`.
  void replace(mlir::Operation *op, mlir::Value value, unsigned dimension);
  /// Repeats what `operand` uses for every sample, where it has none.
  void ensure(mlir::OpOperand &operand, unsigned dimension);
  /// Splits `value` into samples and what one has of their dimension.
  mlir::Value split(mlir::OpBuilder &builder, mlir::Value value) const;
  /// Merges dimension `dimension` with the next one.
  static mlir::Value merge(mlir::OpBuilder &builder, mlir::Value value,
                           unsigned dimension);
  /// Gives `operand`, which has samples, them in another dimension: by reshapes
  /// where all between is of extent 1, else by a transposition.
  void move(mlir::OpOperand &operand, unsigned to);

  /// An error at an op that mixes samples, or may do so.
  static mlir::LogicalResult refuse(mlir::Operation *op,
                                    const llvm::Twine &why);

private:
  bool isReshape(mlir::Value value, unsigned to) const;
  mlir::Value reshape(mlir::OpBuilder &builder, mlir::Value value,
                      unsigned to) const;
  mlir::Value transpose(mlir::OpBuilder &builder, mlir::Value value,
                        unsigned to) const;
  mlir::Value repeat(mlir::Value value, unsigned dimension);

  int64_t size;
  llvm::DenseMap<mlir::Value, unsigned> dimensions;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> repeated;
};

/// Gives the results of a structured op samples, some of whose operands, or of
/// the tensors that its body reads, have some.
mlir::LogicalResult addSamples(mlir::linalg::LinalgOp op, Samples &samples);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_SAMPLES_H
