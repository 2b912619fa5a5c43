//===- Attention.h - lowering of attention ----------------------*- C++ -*-===//
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

/// Registers the bufferization of attention and its derivatives.
void registerAttentionBufferization(mlir::DialectRegistry &registry);

/// Why there is no GPU kernel for `op`, which is on tensors or buffers; nothing
/// if there is one.
std::optional<std::string> whyNoAttentionKernel(pipe::AttentionOpInterface op);

/// Replaces `op` by scalar loops that work row by row. `op` must be on buffers
/// of static shape, and not be a pipe.attention_backward. Fails with a
/// diagnostic at the op.
mlir::LogicalResult lowerAttentionToLoops(mlir::RewriterBase &rewriter,
                                          pipe::AttentionOpInterface op);

} // namespace veeline

#endif // VEELINE_CONVERSION_ATTENTION_H
