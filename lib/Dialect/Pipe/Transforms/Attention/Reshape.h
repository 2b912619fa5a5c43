//===- Reshape.h - tensors with other dimensions ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_RESHAPE_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_RESHAPE_H

#include "ScalarExpression.h"
#include "mlir/IR/Builders.h"

namespace veeline::pipe {

/// The digits of an access, in order.
Index flatten(const Access &access);

/// An access with one dimension for each digit.
Access separate(const Index &digits);

/// An empty tensor with the dimensions of `access`. Dynamic extents are those
/// of `like`, which has the dimensions of `likeAccess`.
mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                        const ExpressionTracer &tracer, const Access &access,
                        mlir::Type element, mlir::Value like,
                        const Access &likeAccess);

/// Changes the dimensions of `tensor` from `from` to `to`, which have the same
/// digits. Reshapes and, if the order differs, transposes.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc,
                    const ExpressionTracer &tracer, mlir::Value tensor,
                    const Access &from, const Access &to);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_RESHAPE_H
