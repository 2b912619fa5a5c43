//===- CountedWhile.h - loops that count, as scf.for ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_COUNTEDWHILE_H
#define VEELINE_LIB_AUTODIFF_COUNTEDWHILE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace veeline::autodiff {

/// Replaces an `scf.while` by an `scf.for` if its condition depends only on
/// integers that start from constants and are computed from one another. Those
/// that grow by the same amount in each iteration are then computed from the
/// induction variable. Other loops stay.
void replaceByFor(mlir::scf::WhileOp loop);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_COUNTEDWHILE_H
