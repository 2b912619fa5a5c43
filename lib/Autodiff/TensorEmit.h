//===- TensorEmit.h - tensors that derivative rules make --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_TENSOREMIT_H
#define VEELINE_LIB_AUTODIFF_TENSOREMIT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace veeline::autodiff {

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

/// The tensor with its elements converted to `elementType`.
mlir::Value createConversion(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value tensor, mlir::Type elementType);

/// The type in which sums of values of `type` are accumulated: f32 for f16 and
/// bf16, the type itself otherwise.
mlir::Type getAccumulatorType(mlir::Type type);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_TENSOREMIT_H
