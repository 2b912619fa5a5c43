//===- attention.h - memory for attention by a library ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of attention's scratch memory, which the compiler plans and the
// runtime uses.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ATTENTION_H
#define VEELINE_ATTENTION_H

#include <cstdint>

namespace veeline {

/// Scratch memory of the derivative of an attention on a GPU: two tensors of
/// f32.
struct AttentionScratch {
  /// For each query, the inner product of the output and its gradient.
  int64_t deltaBytes = 0;
  /// The gradient of the queries, if it may be added up in any order.
  int64_t queryGradBytes = 0;

  constexpr AttentionScratch(int64_t batch, int64_t heads, int64_t queries,
                             int64_t depth, bool deterministic)
      : deltaBytes(align(batch * heads * queries)),
        queryGradBytes(deterministic ? 0
                                     : align(batch * heads * queries * depth)) {
  }

  constexpr int64_t bytes() const { return deltaBytes + queryGradBytes; }

private:
  /// The bytes of `numbers` numbers, rounded up to a multiple of 256.
  static constexpr int64_t align(int64_t numbers) {
    return (4 * numbers + 255) / 256 * 256;
  }
};

} // namespace veeline

#endif // VEELINE_ATTENTION_H
