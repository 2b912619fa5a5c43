//===- Gathers.h - reads that a body makes by index -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_GATHERS_H
#define VEELINE_LIB_AUTODIFF_GATHERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// Makes reads by index of what has neither a rule nor code otherwise, so that
/// its adjoint is the scatter that such a read has: an input of a structured op
/// whose map divides (d floordiv 2, d mod 3) or descends (3 - d) is read by
/// `tensor.extract` in the body, and a padding that depends on where it is
/// becomes a structured op into which the source is inserted. Where an output's
/// map descends, the loop runs the other way.
void readByIndex(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_GATHERS_H
