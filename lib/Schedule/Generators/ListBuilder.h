//===- ListBuilder.h - list scheduling under a memory limit -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_LISTBUILDER_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_LISTBUILDER_H

#include "LegBuilder.h"

namespace veeline::schedule {

struct LegListOptions {
  /// The direction that goes first if both are ready.
  Direction first = Direction::Backward;
  /// Whether, if several legs are ready, the furthest one goes first, or else
  /// the first one.
  bool lastLegFirst = true;
  /// The share of the memory of later forward legs that a forward leaves free
  /// for each microbatch that is on its way to them. With 0, as many forwards
  /// run as fit.
  double reserve = 0;
  /// Before waiting for an input, run W that delay the waiting operation by at
  /// most this share of their cost. With 0, run only W that fit.
  double overrun = 0;
};

/// Runs whatever is ready, in the order of time, as long as every stage could
/// still finish all microbatches that it has begun, one after the other, within
/// its memory limit. That condition never blocks the oldest microbatch. So the
/// result is complete if every limit is at least `LegProblem::leastLimit`,
/// which is required. Returns false if it certainly misses the builder's goal.
/// O(operations · (log stages + v^2)) for v chunks a stage.
bool buildList(LegBuilder &builder, const LegListOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_LISTBUILDER_H
