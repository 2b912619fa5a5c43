//===- FoldTransposes.h - products of what was transposed ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bits of a matrix product may depend on the layout of its operands. So the
// layout is a property of the op: a library is called on operands as the op has
// them, whatever surrounds it. Which transpositions a product reads or writes
// through is therefore decided once, before anything is differentiated, split
// or recomputed.
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H
#define VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// Folds transpositions into the indexing maps of products: those of operands,
/// also if dimensions are split afterwards, and those of results. Linear in the
/// number of ops.
void foldTransposes(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H
