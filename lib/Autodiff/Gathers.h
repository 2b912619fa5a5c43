//===- Gathers.h - reads that a body makes by index -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_GATHERS_H
#define VEELINE_LIB_AUTODIFF_GATHERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// Rewrites what has neither a rule nor code otherwise into reads by index,
/// whose adjoint is a scatter. An input of a structured op whose map divides
/// (d floordiv 2, d mod 3) or descends (3 - d) is read by `tensor.extract` in
/// the body. A padding that depends on its place becomes a structured op into
/// which the source is inserted. If an output's map descends, the loop is
/// reversed.
void readByIndex(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_GATHERS_H
