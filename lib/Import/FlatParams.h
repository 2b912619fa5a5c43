//===- FlatParams.h - one argument that holds all weights -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_FLATPARAMS_H
#define VEELINE_LIB_IMPORT_FLATPARAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline {

/// Splits a vector that is only sliced: its slices become arguments
/// "NAME[begin:end]" after all others, and it is no longer used. Returns their
/// number. Returns 0, and changes nothing, if there are fewer than two, if they
/// overlap, or if it is used in another way.
unsigned splitFlat(mlir::func::FuncOp model, unsigned argument,
                   llvm::StringRef name);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_FLATPARAMS_H
