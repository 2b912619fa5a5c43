//===- Schedule.h - an order of operations per stage ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_SCHEDULE_H
#define VEELINE_SCHEDULE_SCHEDULE_H

#include "veeline/Schedule/Problem.h"

#include <string>
#include <vector>

namespace veeline::schedule {

/// The solution of a problem: what each stage runs, in order.
struct Schedule {
  std::string name;
  /// `stages[s]` is the order of stage s.
  std::vector<std::vector<Op>> stages;
  /// Blocks in which a forward and a backward of different microbatches run
  /// together (DualPipe): `overlapped[s]` has, ascending, the steps k of stage
  /// s whose operation runs together with that of step k+1. Empty where the
  /// schedule has no such blocks. Both operations start when the inputs of both
  /// are there and end together; `Problem::overlap` says how long that takes.
  std::vector<std::vector<int>> overlapped = {};
  /// What its user should know, one sentence each, without a full stop: that
  /// few microbatches cost a lot, say.
  std::vector<std::string> warnings = {};
};

/// Does `schedule` solve `problem`? Expects `check(problem)` to hold; the
/// schedule may come from anywhere. In this order:
/// - every operation names a chunk and a microbatch of the problem and stands
///   on the stage of its chunk;
/// - every (chunk, microbatch) has one F, and either one fused Backward or one
///   W and, where the chunk has a BackwardInput, one B; nothing twice;
/// - per chunk, B and fused Backward ascend in the microbatch, and so do W and
///   fused Backward, so that every synchronous schedule sums gradients in the
///   same order; W follows its B;
/// - executing each stage in order, with the dependencies of the problem, ends.
///   This is also what makes communication safe that is posted ahead in the
///   order of `communicationOrder`: a message waits only for its producer and
///   for the messages before it on its two ranks, all of which come earlier in
///   that one order, so by induction every message completes;
/// - memory stays within the limit of each stage.
/// The error names stage, step and operation, with the neighbourhood.
/// O(operations · edges per chunk).
Status verify(const Problem &problem, const Schedule &schedule);

/// One message between two different stages.
struct Message {
  /// Index into `Problem::edges`.
  int edge;
  int microbatch;
  /// False: the value, from the stage of `Edge::from` to that of `Edge::to`.
  /// True: its gradient, the other way.
  bool gradient;
  int sourceStage, sourceStep;
  int targetStage, targetStep;
};

/// All messages of a valid schedule in one total order that no rank's program
/// contradicts: by the simulated end of the producer (ties in a topological
/// order, then by edge). Ranks that issue their sends and receives in this
/// order, each as early as the order and, for a send, its producer permit,
/// cannot deadlock, even where a send blocks until its receive is posted.
/// Errors as of `simulate`. O(operations · log operations).
Expected<std::vector<Message>> communicationOrder(const Problem &problem,
                                                  const Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_SCHEDULE_H
