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

/// The two tensors that `op` adds up element by element, if that is all it
/// does.
std::optional<std::pair<mlir::Value, mlir::Value>>
getAddends(mlir::Operation *op);

/// A part of a sum, and the chunk that adds it.
struct Term {
  mlir::Value value;
  unsigned chunk;
};

/// The parts of the sum `value`, in order, or `value` alone where it is none.
/// Sums that have other uses, or that `isWhole` says so of, are not taken
/// apart. Linear in the number of parts.
llvm::SmallVector<mlir::Value>
getTerms(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isWhole);

/// The same, each part with the chunk that `getChunk` gives it. A sum whose
/// parts are all of one chunk stays whole.
llvm::SmallVector<Term>
getTermsByChunk(mlir::Value value,
                llvm::function_ref<bool(mlir::Value)> isWhole,
                llvm::function_ref<unsigned(mlir::Value)> getChunk);

/// The sums in `block` of which `getChunk` gives parts to different chunks.
/// Linear in the number of ops.
llvm::DenseSet<mlir::Value>
findSumsOfChunks(mlir::Block &block,
                 llvm::function_ref<bool(mlir::Value)> isWhole,
                 llvm::function_ref<unsigned(mlir::Value)> getChunk);

/// For each chunk the sum of its terms, in their order. Sums that there are not
/// yet are made at the end of the block.
llvm::MapVector<unsigned, mlir::Value> addUpByChunk(llvm::ArrayRef<Term> terms);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_JOINTSUMS_H
