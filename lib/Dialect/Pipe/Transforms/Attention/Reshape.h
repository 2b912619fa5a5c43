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

/// A place with one dimension for each digit.
Access separate(const Index &digits);

/// An empty tensor whose dimensions run along `access`; dynamic extents are
/// those of `like`, which runs along `likeAccess`.
mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                        const ExpressionTracer &tracer, const Access &access,
                        mlir::Type element, mlir::Value like,
                        const Access &likeAccess);

/// `tensor`, whose dimensions run along `from`, with dimensions that run along
/// `to`; both have the same digits. Reshapes, and transposes where the order
/// is another one.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc,
                    const ExpressionTracer &tracer, mlir::Value tensor,
                    const Access &from, const Access &to);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_RESHAPE_H
