//===- Uses.h - uses of a value in a model ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_USES_H
#define VEELINE_LIB_IMPORT_USES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace veeline {

/// How a model uses a tensor. Looks through reshapes, transpositions, slices
/// and broadcasts.
struct Uses {
  /// The tensor is a factor of a matrix product or convolution, or its rows are
  /// looked up.
  bool weight = false;
  /// Rows of the tensor are looked up by numbers that are read. Indices that
  /// are computed from those of the result, such as to mirror an image, do not
  /// count.
  bool lookedUp = false;
  /// The tensor is added to, or multiplied with, something larger, like a bias
  /// or a scale. A tensor also counts as added if it is added to each row of a
  /// product, even if there is only one row.
  bool added = false, multiplied = false;
  /// A root of the tensor is computed, as of a variance.
  bool underRoot = false;
  /// The tensor is the mean that belongs to a running variance.
  bool runningMean = false;
  /// The tensor is the init of a sum of products: a bias, or zeros.
  bool start = false;
  /// The tensor is the bias of a convolution: it is broadcast to the init of
  /// the sum, or added to the sum.
  bool convolutionBias = false;
  /// The tensor becomes one row before, after or between others, like the token
  /// that a classifier reads.
  bool token = false;
  /// For a weight, the number of products that each element of the result sums.
  int64_t summed = 1;
  /// The uses of the tensor in products and convolutions.
  llvm::SmallVector<mlir::OpOperand *> products;
  /// The uses of the tensor in products, and in sums and products with
  /// something larger. The other operands of these ops are what it is combined
  /// with.
  llvm::SmallVector<mlir::OpOperand *> meetings;
  /// The tensor is only multiplied, and only sines and cosines of the products
  /// are computed. So it has the frequencies of positions or of time.
  bool frequency = false;

  bool any() const { return weight || added || multiplied; }
  /// Whether the tensor is a running variance. It is not trained: a step that
  /// made it negative would make its root NaN.
  bool isVariance() const { return underRoot && !any() && !start; }
  /// Whether the tensor is a running mean or variance.
  bool isStatistic() const { return runningMean || isVariance(); }
  bool isScaleOnly() const { return multiplied && !weight && !added && !start; }
};

/// Finds the uses of a value. Linear in the number of ops that it reaches by
/// views.
Uses findUses(mlir::Value value);

/// Whether an op is a matrix product or convolution. A pooling is not.
bool isProduct(mlir::linalg::LinalgOp op);

/// The arguments for whose numbers `isWanted` returns true, and all values of
/// the model that depend on one, also in loops and branches.
llvm::DenseSet<mlir::Value>
findDependent(mlir::func::FuncOp model,
              llvm::function_ref<bool(unsigned argument)> isWanted);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_USES_H
