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

/// Whether a constant is a table of sines and cosines, as a rotary embedding
/// has: several dimensions of numbers from -1 to 1, with those of the first
/// position exactly 0 or 1. Scales that are learned are mostly vectors.
bool isTable(mlir::ElementsAttr value);

/// Whether some element hides what it is added to from a softmax, as those of a
/// causal mask do: an infinity, or -1e4 and less, which no weight is.
bool isMask(mlir::ElementsAttr value);

/// Whether all elements are there, and zero.
bool isZero(mlir::ElementsAttr value);

/// Clears those of `learned`, constants that are used as weights, that meet
/// neither data nor anything learned: what is computed of them is the same for
/// all data, as are the angles of positions. Those in `given` stay. Walks
/// through the model at most once for each constant of a chain of them.
void clearTables(mlir::func::FuncOp model, const llvm::BitVector &given,
                 llvm::BitVector &learned);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_TABLES_H
