//===- FoldTransposes.h - transposes folded into products -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which transposes a product reads or writes through. The bits of a
// matrix product may depend on the layout of its operands. So the layout is a
// property of the op, and does not depend on the surrounding code. Therefore
// the decision is made once, before anything is differentiated, split or
// recomputed.
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H
#define VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// Folds transpositions into the indexing maps of products: those of operands,
/// even if dimensions are split after the transposition, and those of results.
/// Linear in the number of ops.
void foldTransposes(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H
