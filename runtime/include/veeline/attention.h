//===- attention.h - what the compiler asks of attention -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ATTENTION_H
#define VEELINE_ATTENTION_H

#include "veeline/artifact.h"

namespace veeline {

/// Bytes of scratch that `attention` wants on a GPU: sums of f32 for the
/// gradient of the queries, where they may be added up in any order. What
/// engines of cuDNN work in besides is the library's workspace.
inline int64_t attentionScratchBytes(const artifact::Attention &attention) {
  bool hasSums = attention.kind == artifact::AttentionKind::backward &&
                 !attention.deterministic;
  return hasSums ? attention.batch * attention.heads * attention.queries *
                       attention.depth *
                       artifact::byteSize(artifact::DataType::f32)
                 : 0;
}

} // namespace veeline

#endif // VEELINE_ATTENTION_H
