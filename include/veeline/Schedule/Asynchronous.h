//===- Asynchronous.h - schedules without a flush ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `pipedream` and `pipedream-2bw` go on for ever; a `Schedule` of them shows a
// window of `Problem::microbatches` from an empty pipeline to an empty one.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_ASYNCHRONOUS_H
#define VEELINE_SCHEDULE_ASYNCHRONOUS_H

#include "veeline/Schedule/Generators.h"

#include <optional>

namespace veeline::schedule {

/// How many versions of its weights each stage, where stages have several ranks
/// each of these, needs when the schedule, one of `generators()` by its name,
/// goes on for ever: 1 for a synchronous one; with
/// weight stashing one for each microbatch that is at most in flight on one of
/// its chunks; 2 for double buffering. Error (UnknownSchedule): the name.
Expected<std::vector<int>> weightVersions(const Problem &problem,
                                          const Schedule &schedule);

/// The version of the weights that double buffering uses for a microbatch: the
/// one before the last that groups of p microbatches before it have made.
/// Version k is there once groups 0 to k-1 are done; 0 is the initial one.
int doubleBufferedVersion(int stages, int microbatch);

/// The middle of an endless pipeline.
struct SteadyState {
  /// Time between two microbatches, on every stage.
  double period;
  /// 1 - busy / period of the worst stage, of each of its ranks.
  double bubble;
  /// That stage.
  int stage;
};

/// The steady state of `pipedream` and `pipedream-2bw`, on a linear placement:
/// the period is the greatest ratio of time to microbatches over all circles of
/// dependencies. Expects that `check(problem)` holds. Error (NotApplicable): a
/// placement that is not linear. O(p · (p + edges)) for each circle that is
/// tried, of which there are few.
Expected<SteadyState> steadyState(const Problem &problem);

/// The same of a schedule that never flushes, by its name; none for others.
std::optional<SteadyState> steadyStateOf(const Problem &problem,
                                         const Schedule &schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_ASYNCHRONOUS_H
