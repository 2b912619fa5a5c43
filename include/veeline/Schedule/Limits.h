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

/// The least memory limit of one stage under which any schedule exists, and
/// why. Other stages count as unlimited. Where the stage has several ranks, it
/// is that of each: one microbatch decides, which is on one rank.
///
/// One microbatch decides. Leave out all others from a schedule, and what is
/// left still is one for a single microbatch, with no more memory at any time,
/// because a chunk never holds less than nothing for a microbatch (`check`).
/// The other way around, running one microbatch after the other in its best
/// order needs no more than one of them. Nor does splitting a backward or
/// overlapping help: a fused Backward never holds more than its F did, and is
/// free again before the stage does anything else.
struct LeastLimit {
  /// No schedule exists below this limit,
  std::int64_t limit;
  /// but one does with this one. Equal to `limit` wherever all chunks of the
  /// stage hang together (see `witness`) or are at most `maxChunksSearched`.
  std::int64_t attained;
  /// The order of F and Backward of microbatch 0 on the stage that attains it.
  std::vector<Op> order;
  /// Where there is one, a simple reason for `limit`: right before the Backward
  /// of this chunk, the stage holds `together`.
  std::optional<int> witness = std::nullopt;
  /// Chunks of the stage whose F has to run before the Backward of `witness`,
  /// and whose Backward has to run after it or is that one. What their F add
  /// sums up to `limit`.
  std::vector<int> together = {};

  static constexpr int maxChunksSearched = 16;
};

/// O(v · (chunks + edges)), plus v · 2^v where the stage has a chunk whose
/// backward may run before another one's forward.
LeastLimit leastLimit(const Problem &problem, int stage);

/// Is every limit at least the least? The error (OutOfMemory) is about the
/// first stage where it is not, with `leastLimit` and the reason. If all chunks
/// depend on each other, as on a chain, success means that a schedule exists:
/// one microbatch at a time attains the least limit on all stages at once.
Status checkLimits(const Problem &problem);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_LIMITS_H
