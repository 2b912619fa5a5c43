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

/// What a model does with a tensor, through reshapes, transpositions, slices
/// and broadcasts.
struct Uses {
  /// It goes into a matrix product or convolution, or rows of it are looked up.
  bool weight = false;
  /// Rows of it are looked up by numbers that are read. Indices computed from
  /// the place in the result, as to mirror an image, do not count.
  bool lookedUp = false;
  /// It is added to, or multiplied with, something larger: a bias, a scale; or
  /// it is added to each row of a product, of which there may be just one.
  bool added = false, multiplied = false;
  /// A root of it is taken, as of a variance.
  bool underRoot = false;
  /// It is the mean beside a running variance.
  bool runningMean = false;
  /// A sum of products starts from it: a bias, or zeros.
  bool start = false;
  /// The sum of a convolution starts from it, broadcast, or it is added to that
  /// sum: its bias.
  bool convolutionBias = false;
  /// It is one row that goes before, behind or between others, as the token
  /// that a classifier reads.
  bool token = false;
  /// For a weight: how many products each element of the result sums.
  int64_t summed = 1;
  /// Where it goes into products and convolutions.
  llvm::SmallVector<mlir::OpOperand *> products;
  /// Where it goes into a product, or is added to or multiplied with something
  /// larger. The op's other operands are what it meets there.
  llvm::SmallVector<mlir::OpOperand *> meetings;
  /// It is only multiplied with, and only sines and cosines are taken of that:
  /// the frequencies of positions, or of time.
  bool frequency = false;

  bool any() const { return weight || added || multiplied; }
  /// A running variance. It is not trained: a step that makes it negative would
  /// make its root NaN.
  bool isVariance() const { return underRoot && !any() && !start; }
  /// A running mean or variance.
  bool isStatistic() const { return runningMean || isVariance(); }
  bool isScaleOnly() const { return multiplied && !weight && !added && !start; }
};

/// Linear in the number of ops that the value reaches by views.
Uses findUses(mlir::Value value);

/// Whether it is a matrix product or convolution, which pooling is not.
bool isProduct(mlir::linalg::LinalgOp op);

/// The arguments that `isWanted` by their numbers, and all values of the
/// model, in loops and branches too, that depend on one.
llvm::DenseSet<mlir::Value>
findDependent(mlir::func::FuncOp model,
              llvm::function_ref<bool(unsigned argument)> isWanted);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_USES_H
