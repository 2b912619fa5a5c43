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
/// why. Other stages count as unlimited. Where the stage has several ranks, the
/// limit is that of each: one microbatch decides, and it is on one rank.
///
/// One microbatch decides. Leave out all others from a schedule, and what is
/// left is still a schedule of a single microbatch, with no more memory at any
/// time, because a chunk never holds less than nothing for a microbatch
/// (`check`). Conversely, running one microbatch after the other, each in the
/// best order, needs no more than one of them. Nor does splitting a backward or
/// overlapping help: a fused Backward never holds more than its F and R did,
/// and all of that is free again before the stage does anything else.
struct LeastLimit {
  /// No schedule exists below this limit.
  std::int64_t limit;
  /// A schedule exists with this one. Equal to `limit` on a chain, and, of
  /// problems that can be ordered (see `maxStepsOrdered`), where all chunks of
  /// the stage depend on each other (see `witness`), or there are at most
  /// `maxChunksSearched` and no R adds memory.
  std::int64_t attained;
  /// The order of F and Backward of microbatch 0 on the stage that attains it.
  std::vector<Op> order;
  /// A simple reason for `limit`, where there is one: right before the Backward
  /// of this chunk, after its R, the stage holds `together`.
  std::optional<int> witness = std::nullopt;
  /// The chunks of the stage whose F must run before the Backward of `witness`,
  /// and whose own Backward must run after it or is it. Their F, and the R of
  /// `witness`, add up to `limit`.
  std::vector<int> together = {};

  static constexpr int maxChunksSearched = 16;
  /// Where chunks · (chunks + v^2) is more and the chunks are no chain, `limit`
  /// is what the largest chunk of the stage needs alone, and `attained` what
  /// all forwards add.
  static constexpr std::int64_t maxStepsOrdered = std::int64_t(1) << 30;
};

/// O(chunks + edges) for a chain, for v = 1, and for problems too large to
/// order; else O(v · (chunks + edges + v^2)), plus v^3 · 2^v where the stage
/// has a chunk whose backward may run before another one's forward.
LeastLimit leastLimit(const Problem &problem, int stage);

/// Checks that every limit is at least the least. The error (OutOfMemory) is
/// about the first stage where it is not, with `leastLimit` and the reason. If
/// all chunks depend on each other, as on a chain, and the limits of all stages
/// are attained, success means that a schedule exists: one microbatch at a time
/// attains the least limit on all stages at once.
Status checkLimits(const Problem &problem);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_LIMITS_H
