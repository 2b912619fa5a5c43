//===- Asynchronous.h - schedules without a flush ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `pipedream` and `pipedream-2bw` never flush. If the steps of a problem wait
// for no update (`Problem::updates`), their `Schedule` is one turn (Loop.h).
// Otherwise it is a window of `Problem::microbatches`, from an empty pipeline
// to an empty one.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_ASYNCHRONOUS_H
#define VEELINE_SCHEDULE_ASYNCHRONOUS_H

#include "veeline/Schedule/Generators.h"

#include <optional>

namespace veeline::schedule {

/// The number of versions of the weights that each rank keeps when the schedule
/// runs without end. The schedule's name selects an entry of `generators()`:
/// - a synchronous schedule needs 1 version, double buffering 2;
/// - weight stashing needs as many as the most microbatches in flight on one of
///   the rank's chunks; in a turn, one more than `olderVersions`.
/// Error (UnknownSchedule): the name.
Expected<std::vector<int>> weightVersions(const Problem &problem,
                                          const Schedule &schedule);

/// One turn of `pipedream` or `pipedream-2bw`, for steps that follow each other
/// (Loop.h). Each stage alternates F and BW; on stage s the first p - 1 - s BW
/// are late. Error (NotApplicable): fewer microbatches than stages, or stages
/// of several ranks.
Expected<Schedule> turnOf(const Problem &problem, const std::string &name);

/// The number of older versions that a stage keeps to stash weights in a turn
/// of `microbatches`, if the backwards of `late` of them are late. It is the
/// least divisor of `microbatches` that is at least `late`, so that each turn
/// finds a version at the same place.
int olderVersions(int late, int microbatches);

/// The steady state of a pipeline that never flushes.
struct SteadyState {
  /// Time between two microbatches, on every stage.
  double period;
  /// 1 - busy / period of the worst stage. busy is the time of one of its
  /// ranks.
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

/// `steadyState` for a schedule that by its name never flushes; none for
/// others, or if `steadyState` fails.
std::optional<SteadyState> steadyStateOf(const Problem &problem,
                                         const Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_ASYNCHRONOUS_H
