//===- ListScheduler.h - list scheduling on any placement -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_LISTSCHEDULER_H
#define VEELINE_LIB_SCHEDULE_AUTO_LISTSCHEDULER_H

#include "FlatProblem.h"

#include <array>

namespace veeline::schedule {

/// What a stage runs where it has a choice.
struct ListOptions {
  enum class First : std::uint8_t {
    Backward,
    Forward,
    /// The direction that it has not just run.
    Other,
    /// The operation that a plan has first. In a plan, microbatches follow each
    /// other at the pace of the busiest stage, and each passes the chunks at
    /// `paces`.
    Planned,
  };
  First first = First::Backward;
  /// Among chunks of one direction: the one further on, or the nearer one.
  bool furtherOn = true;
  /// What a new microbatch keeps free for each one that is still on its way
  /// forward: this share of the memory of a microbatch's forwards after the
  /// first.
  double reserve = 0.25;
  /// Before waiting for an input, run W that delay what waits by at most this
  /// share of their cost; 0: only W that fit.
  double overrun = 0.5;
  /// Wait for the operation that comes first rather than run the one that comes
  /// second, where the first is ready within this share of the cost of the
  /// second.
  double patience = 0;
  /// How long a plan lets a microbatch take through the p chunks of one pass
  /// (first F of every stage, ..., last B of every stage), as a multiple of
  /// their cost. With more than 8 passes, several share one number.
  std::array<double, 8> paces = {1, 1, 1, 1, 1, 1, 1, 1};
  /// The most microbatches on a stage between their first F and their last B,
  /// linear from the first stage to the last; 0: no bound.
  double mostOnFirst = 0, mostOnLast = 0;
  /// Ties and near ties are broken at random, by up to this share of a cost.
  double noise = 0;
  std::uint64_t seed = 1;
  /// How many microbatches a step has, where the problem is of several steps
  /// that follow each other; 0: all. W of the step before may then run until
  /// the first F of their chunk; those of chunks that are needed sooner run
  /// first.
  int stepLength = 0;
  /// At most so many W of a step are left on stage s when it begins the next
  /// one, linear from the first stage to the last; below 0: no bound.
  double lateOnFirst = -1, lateOnLast = -1;
};

struct ListResult {
  FlatOrders orders;
  /// Of each stage, its first start and its last end.
  std::vector<double> firstStart, lastEnd;
};

/// The least limit with which a stage can run one microbatch at a time in model
/// order with split backwards. The one of Limits.h, for any order, is less
/// where a B adds memory or chunks do not depend on each other.
std::int64_t leastLimit(const FlatProblem &flat, int stage);

/// Whether split backwards fit in the limits. Otherwise only schedules with
/// fused ones do.
bool admitsSplit(const FlatProblem &flat);

/// Runs whatever is ready, in the order of time, as long as every stage could
/// still finish all microbatches that it has begun, oldest first, within its
/// limit. That never blocks the oldest microbatch, so the result is complete
/// whenever every limit is at least `leastLimit`, which it expects.
/// O(operations · (v + log stages)).
ListResult listSchedule(const FlatProblem &flat, const ListOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_LISTSCHEDULER_H
