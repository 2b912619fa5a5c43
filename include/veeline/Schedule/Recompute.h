//===- Recompute.h - recomputation ahead of the backward --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk that keeps little of its forward computes the rest again for its
// backward. That work needs no gradient. As an operation of its own, R, it can
// run while the rank waits for one, so that it takes no time where there is a
// bubble to fill. Liu et al., "Mario: Near Zero-cost Activation Checkpointing
// in Pipeline Parallelism" (PPoPP 2025).
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_RECOMPUTE_H
#define VEELINE_SCHEDULE_RECOMPUTE_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

/// Whether any chunk has an R.
bool hasRecompute(const Problem &problem);

/// Whether any R is in the order.
bool runsRecompute(const Schedule &schedule);

/// Whether the order runs no R of a chunk that has one.
bool lacksRecompute(const Problem &problem, const Schedule &schedule);

/// The problem in which chunks recompute inside of their backwards of which
/// the order runs no R.
Problem asOrdered(const Problem &problem, const Schedule &schedule);

/// The problem in which every chunk recomputes inside of its backward.
Problem withRecomputeInside(const Problem &problem);

/// Adds to a schedule the R of those chunks of which it has none.
///
/// Each R stands before the first backward of its microbatch at the latest. It
/// runs earlier where its rank would wait, as long as the objective improves
/// and memory permits. That is the limit of the stage, or without limits what
/// the worst rank holds with each R right before its backward. In a schedule
/// with offloads, each R stays there. Expects a schedule that `verify` accepts
/// for `asOrdered(problem, schedule)` without limits. Whether the result is
/// within the limits is for `verify` to say. O(n) for n operations, for each of
/// at most about 12 orders that are tried.
Expected<Schedule> addRecompute(const Problem &problem, Schedule schedule,
                                Objective objective);

/// As `generate`, for a problem with R: the best by the objective of the orders
/// that the schedule has for backwards with R inside and for those without its
/// time, each with R added. Where memory limits leave no room for R, orders are
/// generated under limits that are lower by what stages hold too much, or by
/// what their largest R adds. If that fails, `auto` runs one microbatch after
/// the other. NotApplicable where backwards may be of the step before.
Expected<Schedule> generateWithRecompute(std::string_view name,
                                         const Problem &problem,
                                         const GeneratorOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_RECOMPUTE_H
