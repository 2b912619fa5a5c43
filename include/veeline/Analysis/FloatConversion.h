//===- FloatConversion.h - ops that only convert floats ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_FLOATCONVERSION_H
#define VEELINE_ANALYSIS_FLOATCONVERSION_H

#include "mlir/IR/Value.h"

namespace veeline {

/// The source of `value` if its op only rounds each element to a smaller float
/// type; null otherwise.
mlir::Value getRounded(mlir::Value value);

/// The source of `value` if its op only extends each element to a larger float
/// type; null otherwise.
mlir::Value getExtended(mlir::Value value);

} // namespace veeline

#endif // VEELINE_ANALYSIS_FLOATCONVERSION_H
