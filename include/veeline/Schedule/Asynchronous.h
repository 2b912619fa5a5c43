//===- Asynchronous.h - schedules without a flush ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `pipedream` and `pipedream-2bw` never flush. Where the steps of a problem
// wait for no update (`Problem::updates`), a `Schedule` of them is a turn. Else
// it is a window of `Problem::microbatches`, from an empty pipeline to an empty
// one.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_ASYNCHRONOUS_H
#define VEELINE_SCHEDULE_ASYNCHRONOUS_H

#include "veeline/Schedule/Generators.h"

#include <optional>

namespace veeline::schedule {

/// How many versions of the weights each rank keeps when the schedule runs
/// without end; its name selects an entry of `generators()`. A synchronous
/// schedule needs 1 version, double buffering 2, and weight stashing the
/// greatest number of microbatches in flight on one of the rank's chunks, in a
/// turn one more than its `olderVersions`. Error (UnknownSchedule): the name.
Expected<std::vector<int>> weightVersions(const Problem &problem,
                                          const Schedule &schedule);

/// One turn of `pipedream` or `pipedream-2bw`, as steps run it that follow each
/// other (Loop.h): on each stage F and BW in turn, the first p - 1 - s BW of
/// which are late. Error (NotApplicable): fewer microbatches than stages, or
/// stages of several ranks.
Expected<Schedule> turnOf(const Problem &problem, const std::string &name);

/// How many older versions of its weights a stage keeps that stashes them in a
/// turn of `microbatches`, of which the backwards of `late` are late: the
/// least divisor of the microbatches that is no smaller, so that each turn
/// finds a version at the same place.
int olderVersions(int late, int microbatches);

/// The steady state of a pipeline that never flushes.
struct SteadyState {
  /// Time between two microbatches, on every stage.
  double period;
  /// 1 - busy / period of the worst stage, where busy is the time of each of
  /// its ranks.
  double bubble;
  /// That stage.
  int stage;
};

/// The steady state of `pipedream` and `pipedream-2bw`, on a linear placement.
/// The period is the greatest ratio of time to microbatches over all cycles of
/// dependencies. Expects that `check(problem)` holds. Error (NotApplicable): a
/// placement that is not linear. O(p · (p + edges)) for each cycle that is
/// tried, of which there are few.
Expected<SteadyState> steadyState(const Problem &problem);

/// `steadyState` where the schedule, by its name, never flushes; none for
/// others or where `steadyState` fails.
std::optional<SteadyState> steadyStateOf(const Problem &problem,
                                         const Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_ASYNCHRONOUS_H
