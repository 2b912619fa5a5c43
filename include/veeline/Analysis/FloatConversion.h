//===- FloatConversion.h - ops that only convert floats ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_FLOATCONVERSION_H
#define VEELINE_ANALYSIS_FLOATCONVERSION_H

#include "mlir/IR/Value.h"

namespace veeline {

/// The tensor of which `value` is the rounding to a smaller float type, element
/// by element and nothing else; null where it is none.
mlir::Value getRounded(mlir::Value value);

/// The tensor of which `value` is the extension to a larger float type, element
/// by element and nothing else; null where it is none.
mlir::Value getExtended(mlir::Value value);

} // namespace veeline

#endif // VEELINE_ANALYSIS_FLOATCONVERSION_H
