//===- EpilogueMatches.h - ops that are part of a product's call *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_EPILOGUEMATCHES_H
#define VEELINE_LIB_CONVERSION_LIBRARY_EPILOGUEMATCHES_H

#include "EpilogueFunctions.h"
#include "ProductCalls.h"

#include <optional>

namespace veeline {

/// True for accumulator += product.
bool isAccumulation(const ProductCall &product, mlir::linalg::GenericOp op);

/// Which inputs of `op` are the product and a bias, if it reads the product
/// once; there may be others.
std::optional<EpilogueInputs> findInputs(const ProductCall &product,
                                         mlir::linalg::GenericOp op);

/// The inputs of `op` if it is the product times the derivative of GELU.
std::optional<EpilogueInputs> matchDerivative(const ProductCall &product,
                                              mlir::linalg::GenericOp op);

/// An op that reads the product and a bias as their sum only.
struct SumReader {
  mlir::linalg::GenericOp op;
  EpilogueInputs inputs;
  llvm::SmallVector<mlir::arith::AddFOp> sums;
};
std::optional<SumReader> matchSum(const ProductCall &product,
                                  mlir::linalg::GenericOp op);

/// True if the sums may be of `type`: they are, or are rounded to it at once.
bool fitSums(llvm::ArrayRef<SumReader> readers, mlir::Type type);

/// True if the library can store a matrix like the result beside it.
bool canHaveAux(const ProductCall &product);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_EPILOGUEMATCHES_H
