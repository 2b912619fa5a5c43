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

/// The op of a kernel function of attention, or null.
pipe::AttentionOpInterface findAttention(mlir::Block &block);

/// Writes the code of a thread for `op` and erases it. Returns the first part
/// of the kernel's name. Numbers of f32 may be multiplied in `tf32`.
mlir::FailureOr<std::string>
emitAttention(ThreadCode &code, pipe::AttentionOpInterface op, bool tf32);

/// A block has 64 queries and goes over keys and values.
void emitAttentionForward(ThreadCode &code, const AttentionProblem &problem);
void emitAttentionBackwardQ(ThreadCode &code, const AttentionProblem &problem);
/// A block has 64 keys and their values, and goes over queries.
void emitAttentionBackwardKV(ThreadCode &code, const AttentionProblem &problem);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_ATTENTIONKERNEL_H
