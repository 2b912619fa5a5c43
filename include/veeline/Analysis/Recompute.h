//===- Recompute.h - what a backward may recompute --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Policies of recomputation. Plain C++, no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_RECOMPUTE_H
#define VEELINE_ANALYSIS_RECOMPUTE_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace veeline {

enum class RecomputeKind {
  /// Only what neither costs arithmetic nor copies data: views, constants,
  /// fills.
  None,
  /// Values that are cheap to compute for the bytes that they save, by the
  /// prices of docs/differentiation.md.
  Balanced,
  /// As Balanced, and all ops that read no more bytes than they write, except
  /// matrix products and convolutions.
  Cheap,
  /// Everything. Only the inputs of the chunk are kept.
  Full,
  /// Everything in the last int(amount * n) of the chunk's n pieces.
  Tail,
  /// Values that save at least `amount` bytes for each nanosecond of
  /// recomputation.
  Rate,
  /// Chosen by --pipe-fit-memory, within a memory limit.
  Auto,
};

/// The policy of one chunk: what its backward recomputes instead of F keeping
/// it.
struct Recompute {
  RecomputeKind kind = RecomputeKind::Balanced;
  double amount = 0;

  friend bool operator==(const Recompute &, const Recompute &) = default;
};

/// The inverse of `parseRecompute`.
std::string toString(const Recompute &policy);

/// Parses "none", "balanced", "cheap", "full", "auto", a ratio in (0, 1) such
/// as "0.5", or a rate such as "64B/ns". Returns an error message, or empty.
std::string parseRecompute(std::string_view text, Recompute &policy);

/// Parses one text for all chunks, or one for each chunk in model order.
/// Without any text all chunks are Balanced. `numChunks` is at least 1. Returns
/// an error message, or empty.
std::string parseRecompute(std::span<const std::string> texts, int numChunks,
                           std::vector<Recompute> &policies);

} // namespace veeline

#endif // VEELINE_ANALYSIS_RECOMPUTE_H
