//===- EpilogueMatches.h - matching epilogues of products -------*- C++ -*-===//
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

/// True if the op computes accumulator += product.
bool isAccumulation(const ProductCall &product, mlir::linalg::GenericOp op);

/// Finds the inputs of `op` that are the product and a bias. `op` may have
/// further inputs. None if it does not read the product exactly once.
std::optional<EpilogueInputs> findInputs(const ProductCall &product,
                                         mlir::linalg::GenericOp op);

/// The inputs of `op` if it is the product times the derivative of GELU, else
/// none.
std::optional<EpilogueInputs> matchDerivative(const ProductCall &product,
                                              mlir::linalg::GenericOp op);

/// An op that reads the product and a bias only as their sum.
struct SumReader {
  mlir::linalg::GenericOp op;
  EpilogueInputs inputs;
  llvm::SmallVector<mlir::arith::AddFOp> sums;
};
std::optional<SumReader> matchSum(const ProductCall &product,
                                  mlir::linalg::GenericOp op);

/// True if all sums can have `type`: they have it, or are rounded to it at
/// once.
bool fitSums(llvm::ArrayRef<SumReader> readers, mlir::Type type);

/// True if the library can store a second matrix of this size beside the
/// result.
bool canHaveAux(const ProductCall &product);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_EPILOGUEMATCHES_H
