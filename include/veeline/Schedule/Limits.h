//===- Limits.h - the least memory that any schedule needs ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_LIMITS_H
#define VEELINE_SCHEDULE_LIMITS_H

#include "veeline/Schedule/Schedule.h"

#include <optional>
#include <vector>

namespace veeline::schedule {

/// The least memory limit of one stage under which any schedule exists, and the
/// reason. Other stages count as unlimited. If the stage has several ranks, the
/// limit is that of each rank: one microbatch decides (see below), and it is on
/// one rank.
///
/// Why one microbatch decides: remove all others from a schedule. The rest is a
/// schedule of a single microbatch, and needs no more memory at any time,
/// because a chunk never holds a negative amount for a microbatch (`check`).
/// Conversely, running one microbatch after the other, each in the best order,
/// needs no more than one of them. Splitting a backward or overlapping does not
/// help either: a fused Backward never holds more than its F and R did, and all
/// of that is free again before the stage runs anything else.
struct LeastLimit {
  /// No schedule exists below this limit.
  std::int64_t limit;
  /// A schedule exists under this limit. It equals `limit` on a chain. For
  /// problems that can be ordered (see `maxStepsOrdered`), it also equals
  /// `limit` if all chunks of the stage depend on each other (see `witness`),
  /// or if there are at most `maxChunksSearched` of them and no R adds memory.
  std::int64_t attained;
  /// The order of F and Backward of microbatch 0 on the stage that attains
  /// `attained`.
  std::vector<Op> order;
  /// A simple reason for `limit`, if there is one: right before the Backward of
  /// this chunk, after its R, the stage holds the chunks in `together`.
  std::optional<int> witness = std::nullopt;
  /// The chunks of the stage whose F must run before the Backward of `witness`
  /// and whose own Backward must not run before it, `witness` included. Their
  /// F, and the R of `witness`, add up to `limit`.
  std::vector<int> together = {};

  static constexpr int maxChunksSearched = 16;
  /// A problem can be ordered if it is a chain, or if chunks · (chunks + v^2)
  /// is at most this. Otherwise `limit` is what the largest chunk of the stage
  /// needs alone, and `attained` is the sum of what all forwards add.
  static constexpr std::int64_t maxStepsOrdered = std::int64_t(1) << 30;
};

/// O(chunks + edges) for a chain, for v = 1, and for problems too large to
/// order. Otherwise O(v · (chunks + edges + v^2)), plus v^3 · 2^v if the stage
/// has a chunk whose backward may run before another chunk's forward.
LeastLimit leastLimit(const Problem &problem, int stage);

/// Checks every stage's limit against its `leastLimit`. The error (OutOfMemory)
/// is about the first stage whose limit is lower, and has `leastLimit` and the
/// reason. If all chunks depend on each other, as on a chain, and the limits of
/// all stages are attained, success means that a schedule exists: one
/// microbatch at a time attains the least limit on all stages at once.
Status checkLimits(const Problem &problem);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_LIMITS_H
