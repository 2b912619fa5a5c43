//===- Attention.h - attention below the tensors ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_ATTENTION_H
#define VEELINE_CONVERSION_ATTENTION_H

#include "mlir/IR/PatternMatch.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

#include <optional>
#include <string>

namespace veeline {

/// Bufferization of attention and its derivatives.
void registerAttentionBufferization(mlir::DialectRegistry &registry);

/// Why a GPU has no kernel for `op`, on tensors or on buffers; nothing where it
/// has one.
std::optional<std::string> whyNoAttentionKernel(pipe::AttentionOpInterface op);

/// Replaces `op` by loops of scalars, row by row. `op` is on buffers of static
/// shape, and no pipe.attention_backward. Fails with a diagnostic at the op.
mlir::LogicalResult lowerAttentionToLoops(mlir::RewriterBase &rewriter,
                                          pipe::AttentionOpInterface op);

} // namespace veeline

#endif // VEELINE_CONVERSION_ATTENTION_H
