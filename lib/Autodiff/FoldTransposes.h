//===- FoldTransposes.h - products of what was transposed ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bits of a matrix product may depend on the order in which its operands
// stand in memory, so that is a property of the op: a library is called on
// operands as the op has them, whatever surrounds it. What can be read where it
// is, or written where it goes, is therefore found out once, before anything is
// differentiated, split or computed again.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H
#define VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// Has products read what is transposed for them, also where its dimensions are
/// split afterwards, and write what is transposed after them, by their indexing
/// maps. Linear in the number of ops.
void foldTransposes(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_FOLDTRANSPOSES_H
