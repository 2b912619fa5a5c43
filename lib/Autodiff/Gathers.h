//===- Gathers.h - reads that a body makes by index -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_GATHERS_H
#define VEELINE_LIB_AUTODIFF_GATHERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// Rewrites ops for which there is otherwise no rule or no code into reads by
/// index, whose adjoint is a scatter:
/// - If an input of a structured op has a map that divides (d floordiv 2, d mod
///   3) or descends (3 - d), the body reads it by `tensor.extract`.
/// - If the value of a padding depends on the place, the padding becomes a
///   structured op into which the source is inserted.
/// - If the map of an output descends, the loop is reversed.
void readByIndex(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_GATHERS_H
