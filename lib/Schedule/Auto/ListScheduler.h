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

/// The choices that list scheduling makes.
struct ListOptions {
  enum class First : std::uint8_t {
    Backward,
    Forward,
    /// The direction that the stage has not just run.
    Other,
    /// The operation that comes first in a plan. In a plan, microbatches follow
    /// each other at the pace of the busiest stage, and each passes the chunks
    /// at `paces`.
    Planned,
  };
  First first = First::Backward;
  /// Among chunks of one direction, whether the later chunk runs first.
  bool furtherOn = true;
  /// The memory that a new microbatch leaves free for each one that is still on
  /// its way forward: this share of the memory of a microbatch's forwards after
  /// the first.
  double reserve = 0.25;
  /// Before waiting for an input, run W that delay the waiting operation by at
  /// most this share of their cost. With 0, run only W that fit.
  double overrun = 0.5;
  /// Wait for the operation that comes first rather than run the second one, if
  /// the first is ready within this share of the cost of the second.
  double patience = 0;
  /// The time in which a microbatch passes the p chunks of one pass in a plan,
  /// as a multiple of their cost. The passes are the first F of every stage,
  /// ..., the last B of every stage. If there are more than 8, several share
  /// one number.
  std::array<double, 8> paces = {1, 1, 1, 1, 1, 1, 1, 1};
  /// The maximal number of microbatches on a stage between their first F and
  /// their last B. It is linear from the first stage to the last; 0 means no
  /// bound.
  double mostOnFirst = 0, mostOnLast = 0;
  /// Ties and near ties are broken at random, by up to this share of a cost.
  double noise = 0;
  std::uint64_t seed = 1;
  /// The number of microbatches in a step, if the problem consists of several
  /// steps that follow each other; 0 if it is one step. W of the step before
  /// may then run until the first F of their chunk. Those of chunks that are
  /// needed sooner run first.
  int stepLength = 0;
  /// The maximal number of W of a step that are left on a stage when it begins
  /// the next one. It is linear from the first stage to the last; negative
  /// means no bound.
  double lateOnFirst = -1, lateOnLast = -1;
};

struct ListResult {
  FlatOrders orders;
  /// The first start and the last end of each stage.
  std::vector<double> firstStart, lastEnd;
};

/// The least limit with which a stage can run one microbatch at a time in model
/// order with split backwards. The limit of Limits.h, which is for any order,
/// is lower if a B adds memory or chunks do not depend on each other.
std::int64_t leastLimit(const FlatProblem &flat, int stage);

/// Whether split backwards fit into the limits. Otherwise only schedules with
/// fused backwards do.
bool admitsSplit(const FlatProblem &flat);

/// Runs whatever is ready, in the order of time, as long as every stage could
/// still finish all microbatches that it has begun, oldest first, within its
/// limit. This never blocks the oldest microbatch. So the result is complete if
/// every limit is at least `leastLimit`, which is required. O(operations · (v +
/// log stages)).
ListResult listSchedule(const FlatProblem &flat, const ListOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_LISTSCHEDULER_H
