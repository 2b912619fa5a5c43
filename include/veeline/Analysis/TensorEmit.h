//===- TensorEmit.h - helpers that emit structured ops ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_TENSOREMIT_H
#define VEELINE_ANALYSIS_TENSOREMIT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace veeline {

mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type);

mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::RankedTensorType type, double value);

/// A tensor filled with zeros.
mlir::Value createZeros(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type);

/// An elementwise op on tensors of the same shape, with the scalar body `body`.
mlir::Value createElementwise(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType,
    mlir::ValueRange inputs,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> body);

/// a + b, for scalars or tensors.
mlir::Value createSum(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value a, mlir::Value b);

/// sum + a * b for floats, in the type of the sum.
mlir::Value createMultiplyAdd(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value a, mlir::Value b, mlir::Value sum);

/// Converts a float, or a tensor of floats, to the float type `type`. Returns
/// the value itself if it already has that type.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::Type type);

/// Converts the elements of a tensor to `elementType` by a structured op.
mlir::Value createConversion(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value tensor, mlir::Type elementType);

/// The type in which sums of values of `type` are accumulated: f32 for f16 and
/// bf16, the type itself otherwise.
mlir::Type getAccumulatorType(mlir::Type type);

} // namespace veeline

#endif // VEELINE_ANALYSIS_TENSOREMIT_H
