//===- Recompute.h - what a backward may compute again ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++, no MLIR types.
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
  /// Nothing that costs arithmetic or copies data: views, constants, fills.
  None,
  /// What is cheap for what it saves, by the prices of docs/differentiation.md.
  Balanced,
  /// As Balanced, and whatever reads no more bytes than it writes; no matrix
  /// products and no convolutions.
  Cheap,
  /// Everything: only what comes into the chunk is kept.
  Full,
  /// Everything in the last int(amount * n) of the chunk's n pieces.
  Tail,
  /// Whatever saves at least `amount` bytes for each nanosecond that it takes.
  Rate,
  /// Chosen by --pipe-fit-memory, within a limit of memory.
  Auto,
};

/// What the backward of one chunk computes again, and what is kept for it.
struct Recompute {
  RecomputeKind kind = RecomputeKind::Balanced;
  double amount = 0;

  friend bool operator==(const Recompute &, const Recompute &) = default;
};

/// The text that `parseRecompute` reads as `policy`.
std::string toString(const Recompute &policy);

/// Reads "none", "balanced", "cheap", "full", "auto", a ratio in (0, 1) as
/// "0.5", or a rate as "64B/ns". Returns why `text` is none of these, or empty.
std::string parseRecompute(std::string_view text, Recompute &policy);

/// Reads one text for all chunks, or one for each in model order; all chunks
/// are Balanced without any. `numChunks` is at least 1. Returns what is wrong,
/// or empty.
std::string parseRecompute(std::span<const std::string> texts, int numChunks,
                           std::vector<Recompute> &policies);

} // namespace veeline

#endif // VEELINE_ANALYSIS_RECOMPUTE_H
