//===- NanExtrema.h - maxima that hand NaN on -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_NANEXTREMA_H
#define VEELINE_LIB_AUTODIFF_NANEXTREMA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// Reductions whose body compares, selects and asks for NaN, as exporters write
/// the largest or the smallest element, get an `arith.maximumf` or
/// `arith.minimumf` for it. Values are the same but for the sign of zeros and
/// the payload of NaNs.
void recognizeNanExtrema(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_NANEXTREMA_H
