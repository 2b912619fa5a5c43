//===- AttentionKernel.h - kernels of attention -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_ATTENTIONKERNEL_H
#define VEELINE_LIB_CONVERSION_GPU_ATTENTIONKERNEL_H

#include "AttentionProblem.h"
#include "ThreadCode.h"

namespace veeline {

/// The only op of a kernel function of attention, or null for another function.
pipe::AttentionOpInterface findAttention(mlir::Block &block);

/// Emits the code of a thread for `op`, and erases it. Returns the first part
/// of the kernel's name. With `tf32`, numbers of f32 may be multiplied in tf32.
mlir::FailureOr<std::string>
emitAttention(ThreadCode &code, pipe::AttentionOpInterface op, bool tf32);

/// Emit the kernels of the forward and of the query's gradient: a block has 64
/// queries, and iterates over keys and values.
void emitAttentionForward(ThreadCode &code, const AttentionProblem &problem);
void emitAttentionBackwardQ(ThreadCode &code, const AttentionProblem &problem);
/// Emits the kernel for the gradients of keys and values: a block has 64 keys
/// and their values, and iterates over queries.
void emitAttentionBackwardKV(ThreadCode &code, const AttentionProblem &problem);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_ATTENTIONKERNEL_H
