//===- CountedWhile.h - loops that count, as scf.for ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_COUNTEDWHILE_H
#define VEELINE_LIB_AUTODIFF_COUNTEDWHILE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace veeline::autodiff {

/// Replaces a loop whose condition depends on nothing but integers that start
/// from constants and follow from one another by an `scf.for`, in which those
/// that grow evenly are computed from its induction variable. Other loops stay.
void replaceByFor(mlir::scf::WhileOp loop);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_COUNTEDWHILE_H
