//===- Tables.h - constants that are not weights ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_TABLES_H
#define VEELINE_LIB_IMPORT_TABLES_H

#include "Uses.h"

#include "llvm/ADT/BitVector.h"

namespace veeline {

/// Whether a constant is a table of sines and cosines, as of a rotary
/// embedding: it has several dimensions and numbers from -1 to 1, and those of
/// the first position are exactly 0 or 1. Scales that are learned are mostly
/// vectors.
bool isTable(mlir::ElementsAttr value);

/// Whether some element hides a position from a softmax, as in a causal mask:
/// it is an infinity, or at most -1e4, which no weight is.
bool isMask(mlir::ElementsAttr value);

/// Whether all elements are in the file, and zero.
bool isZero(mlir::ElementsAttr value);

/// Clears those constants of `learned` that are never combined with data or
/// anything learned. What is computed from them is the same for all data, like
/// the angles of positions. Constants in `given` stay. Walks the model at most
/// once for each constant of a chain of them.
void clearTables(mlir::func::FuncOp model, const llvm::BitVector &given,
                 llvm::BitVector &learned);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_TABLES_H
