//===- LoopLists.h - list scheduling of a loop ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_LOOPLISTS_H
#define VEELINE_LIB_SCHEDULE_AUTO_LOOPLISTS_H

#include "ListScheduler.h"
#include "LocalSearch.h"

namespace veeline::schedule {

/// Makes cyclic orders (Loop.h): schedules a few steps that follow each other,
/// as in modulo scheduling. Takes the turns between the first and the last one,
/// which mostly repeat.
class LoopLists {
public:
  LoopLists(const Problem &problem, const FlatProblem &flat);

  struct Turn {
    double period;
    FlatOrders orders;
  };
  /// Returns the best of the turns; none if no turn is a valid order. The time
  /// is that of `listSchedule` for `steps` steps.
  std::optional<Turn> run(const ListOptions &options);

  static constexpr int steps = 4;

private:
  bool take(int step, const FlatOrders &all, FlatOrders &orders) const;

  const FlatProblem &flat;
  FlatProblem unrolled;
  LocalSearch judge;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_LOOPLISTS_H
