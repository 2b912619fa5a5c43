//===- FlatParams.h - one argument that holds all weights -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_FLATPARAMS_H
#define VEELINE_LIB_IMPORT_FLATPARAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline {

/// The slices of a vector that is used in no other way, become arguments
/// "NAME[begin:end]" after all others. Returns their number, 0 if that is not
/// how it is used; the vector is not used any more otherwise.
unsigned splitFlat(mlir::func::FuncOp model, unsigned argument,
                   llvm::StringRef name);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_FLATPARAMS_H
