//===- EmitMask.h - the mask operand of attention ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_EMITMASK_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_EMITMASK_H

#include "MatchAttention.h"
#include "mlir/IR/Builders.h"

namespace veeline::pipe {

/// The mask of `match` as a tensor: one that the model has, or one that is
/// computed. Null if it cannot be computed. `dims` receives the dimensions of
/// `scores` that the mask has.
mlir::Value emitMask(mlir::OpBuilder &builder, mlir::Location loc,
                     const AttentionMatch &match, const Access &scores,
                     llvm::SmallVectorImpl<int64_t> &dims);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_EMITMASK_H
