//===- Extrema.h - maxima and minima in reductions --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_EXTREMA_H
#define VEELINE_LIB_AUTODIFF_EXTREMA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// The maximum or minimum of an accumulator and another value.
struct Extremum {
  mlir::Value other;
  bool isMaximum = true;
  /// It is NaN if one of the two is, like `arith.maximumf`.
  bool handsNanOn = false;
  /// Of a NaN and a number it is the number, like `arith.maxnumf`.
  bool ignoresNan = false;
};

/// Matches `value` as an extremum of `accumulator`, an argument of the same
/// body, and another value. The body may compare, select, test for NaN and
/// combine conditions in any way. It matches if it is right for a smaller, an
/// equal and a larger accumulator; its result for NaN may be anything.
std::optional<Extremum> matchExtremum(mlir::Value value,
                                      mlir::BlockArgument accumulator);

/// Replaces maxima and minima that exporters write with comparisons, selects
/// and tests for NaN by the arith op that computes the same, if there is one.
/// Only bodies of reductions change. Results may differ in the sign of zeros
/// and in the payload of NaNs.
void recognizeExtrema(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_EXTREMA_H
