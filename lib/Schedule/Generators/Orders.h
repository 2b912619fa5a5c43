//===- Orders.h - shared code of fixed orders -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_ORDERS_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_ORDERS_H

#include "veeline/Schedule/Schedule.h"

#include <vector>

namespace veeline::schedule {

/// Returns alternating forwards and fused backwards of a chunk, with the
/// forwards `ahead` microbatches (at least 1) ahead: F0 .. F(ahead-1) B0
/// F(ahead) B1 ..., and then the remaining backwards.
std::vector<Op> oneForwardOneBackward(int chunk, int microbatches, int ahead);

/// Returns a schedule on a linear placement in which stage s runs
/// `oneForwardOneBackward` with `ahead(s)`.
template <typename Ahead>
Schedule oneForwardOneBackwardSchedule(const char *name, const Problem &problem,
                                       Ahead ahead) {
  Schedule schedule{name, {}};
  for (int stage = 0; stage < problem.stages(); ++stage)
    schedule.stages.push_back(
        oneForwardOneBackward(problem.placement.globalChunk(stage, 0),
                              problem.microbatches, ahead(stage)));
  return schedule;
}

/// Returns groups of p microbatches. The last group also has the remainder.
std::vector<int> groupsOf(int stages, int microbatches);

/// Returns 1F1B over several chunks a stage. Microbatches go in groups of the
/// given sizes, each group through the chunks of the stage in order. Forwards
/// of stage s are 2(p-s-1) + (v-1)·`warmUpGroup` ahead of backwards, or all of
/// them if there are fewer.
Schedule interleavedSchedule(const char *name, const Problem &problem,
                             const std::vector<int> &groups, int warmUpGroup);

/// The order of a stage of one chunk with a split backward, under construction.
/// F, B and W each go through the microbatches in order.
class SplitOrder {
public:
  SplitOrder(const Problem &problem, int stage);

  void forward() { ops.push_back({OpKind::Forward, chunk, forwards++}); }
  /// Adds a B. If the chunk has no BackwardInput, only counts.
  void backwardInput();
  /// Adds the oldest W that is owed.
  void backwardWeight() {
    ops.push_back({OpKind::BackwardWeight, chunk, weights++});
  }
  /// Returns the order, with all owed W at its end.
  std::vector<Op> finish();

private:
  int chunk;
  int microbatches;
  bool hasBackwardInput;
  int forwards = 0, backwards = 0, weights = 0;
  std::vector<Op> ops;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_ORDERS_H
