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
  /// Which direction goes first where both are ready.
  Direction first = Direction::Backward;
  /// Which leg goes first where several are ready: the one furthest on, or the
  /// one that just came in.
  bool lastLegFirst = true;
  /// The share of the memory of later forward legs that a forward keeps free
  /// for each microbatch that is on its way to them. 0: as many as fit.
  double reserve = 0;
  /// Before waiting for an input, run W that delay what waits by at most this
  /// share of their cost; 0: only W that fit.
  double overrun = 0;
};

/// Runs whatever is ready, in the order of time, as long as every stage could
/// still finish all it has begun within its memory limit, one microbatch after
/// the other. That condition never blocks the oldest microbatch, so the result
/// is complete whenever every limit is at least `LegProblem::leastLimit`, which
/// it expects. Returns false where it certainly misses the builder's goal.
/// O(operations · (log stages + v^2)) for v chunks a stage.
bool buildList(LegBuilder &builder, const LegListOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_LISTBUILDER_H
