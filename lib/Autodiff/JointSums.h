//===- JointSums.h - sums of several chunks' contributions ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_JOINTSUMS_H
#define VEELINE_LIB_AUTODIFF_JOINTSUMS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace veeline::autodiff {

/// The two tensors that `op` adds element by element. None if it does anything
/// else.
std::optional<std::pair<mlir::Value, mlir::Value>>
getAddends(mlir::Operation *op);

/// A term of a sum, and the chunk that adds it.
struct Term {
  mlir::Value value;
  unsigned chunk;
};

/// The terms of the sum `value`, in order, or `value` alone if it is no sum. A
/// partial sum counts as one term if it has other uses or `isWhole` returns
/// true for it. Linear in the number of terms.
llvm::SmallVector<mlir::Value>
getTerms(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isWhole);

/// As `getTerms`, with the chunk of each term by `getChunk`. A partial sum
/// whose terms are all of one chunk counts as one term.
llvm::SmallVector<Term>
getTermsByChunk(mlir::Value value,
                llvm::function_ref<bool(mlir::Value)> isWhole,
                llvm::function_ref<unsigned(mlir::Value)> getChunk);

/// The sums in `block` whose terms are of different chunks by `getChunk`.
/// Linear in the number of ops.
llvm::DenseSet<mlir::Value>
findSumsOfChunks(mlir::Block &block,
                 llvm::function_ref<bool(mlir::Value)> isWhole,
                 llvm::function_ref<unsigned(mlir::Value)> getChunk);

/// For each chunk, the sum of its terms, in their order. Sums that do not exist
/// yet are created at the end of the block.
llvm::MapVector<unsigned, mlir::Value> addUpByChunk(llvm::ArrayRef<Term> terms);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_JOINTSUMS_H
