//===- VGreedy.h - list scheduling on a V under a memory limit --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_VGREEDY_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_VGREEDY_H

#include "VBuilder.h"

namespace veeline::schedule {

struct VGreedyOptions {
  /// Which direction goes first where both are ready.
  Direction first = Direction::Backward;
  /// Which leg goes first where both are ready: the one further on, or the one
  /// that just came in.
  int firstLeg = 1;
  /// The share of the memory of F leg 1 that F leg 0 keeps free for each
  /// microbatch that is between the two. 0: as many F leg 0 as fit.
  double reserve = 0;
  /// Before waiting for an input, run W that delay what waits by at most this
  /// share of their cost; 0: only W that fit.
  double overrun = 0;
};

/// Runs whatever is ready, in the order of time, as long as every stage could
/// still finish all it has begun within its memory limit, one microbatch after
/// the other. That condition never blocks the oldest microbatch, so the result
/// is complete whenever every limit is at least `VProblem::leastLimit`, which
/// it expects. O(operations · log stages).
void buildVGreedy(VBuilder &builder, const VGreedyOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_VGREEDY_H
