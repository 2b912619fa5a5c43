//===- TensorEmit.h - structured ops on tensors, made -----------*- C++ -*-===//
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

/// The elementwise op over tensors of one shape whose scalar body is `body`.
mlir::Value createElementwise(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType,
    mlir::ValueRange inputs,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> body);

/// a + b, of scalars or of tensors.
mlir::Value createSum(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value a, mlir::Value b);

/// sum + a * b, of floats, in the type of the sum.
mlir::Value createMultiplyAdd(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value a, mlir::Value b, mlir::Value sum);

/// A float, or a tensor of floats, converted to the float type `type`: the
/// value itself if it has that.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::Type type);

/// The tensor with its elements converted to `elementType`, by a structured op.
mlir::Value createConversion(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value tensor, mlir::Type elementType);

/// The type in which sums of values of `type` are accumulated: f32 for f16 and
/// bf16, the type itself otherwise.
mlir::Type getAccumulatorType(mlir::Type type);

} // namespace veeline

#endif // VEELINE_ANALYSIS_TENSOREMIT_H
