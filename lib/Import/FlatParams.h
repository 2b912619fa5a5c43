//===- FlatParams.h - one argument that holds all weights -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_FLATPARAMS_H
#define VEELINE_LIB_IMPORT_FLATPARAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline {

/// Splits a vector of which only slices are used. Its slices become arguments
/// "NAME[begin:end]" after all others, and the vector has no uses any more.
/// Returns the number of slices. Returns 0 and changes nothing if there are
/// fewer than two, if they overlap, or if the vector is used in another way.
unsigned splitFlat(mlir::func::FuncOp model, unsigned argument,
                   llvm::StringRef name);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_FLATPARAMS_H
