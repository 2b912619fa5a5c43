//===- Extrema.h - the largest and the smallest of a reduction --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_EXTREMA_H
#define VEELINE_LIB_AUTODIFF_EXTREMA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// The larger (or smaller) of an accumulator and another value.
struct Extremum {
  mlir::Value other;
  bool isMaximum = true;
  /// It is NaN as soon as one of the two is, as `arith.maximumf`.
  bool handsNanOn = false;
  /// Of a NaN and a number it is the number, as `arith.maxnumf`.
  bool ignoresNan = false;
};

/// Matches `value`, of the body whose argument `accumulator` is, as an extremum
/// of the accumulator and another value. The body may compare, select, ask for
/// NaN and combine conditions in any way: only what it makes of a smaller, an
/// equal and a larger accumulator counts. What it makes of NaN does not.
std::optional<Extremum> matchExtremum(mlir::Value value,
                                      mlir::BlockArgument accumulator);

/// Replaces the bodies of reductions that compare, select and ask for NaN, as
/// exporters write the largest or the smallest element, by the one op of arith
/// that does the same, if there is one. Values are the same but for the sign of
/// zeros and the payload of NaNs.
void recognizeExtrema(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_EXTREMA_H
