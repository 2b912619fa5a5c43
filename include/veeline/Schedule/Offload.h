//===- Offload.h - activations in the host's memory -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offloading moves what a chunk keeps between F and its backward to the host's
// memory meanwhile. Each rank has one link to the host and one back, and
// computes while they copy. So offloading costs time only if a copy has not
// ended when the rank needs the memory, or the values. For transformers, half
// of all activations or more can be offloaded at nearly no cost, and those that
// wait longest should be offloaded first: Wan et al., "PipeOffload: Improving
// Scalability of Pipeline Parallelism with Memory Optimization" (2025), arXiv
// 2503.01328.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_OFFLOAD_H
#define VEELINE_SCHEDULE_OFFLOAD_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

/// Whether any chunk has memory that can be offloaded.
bool canOffload(const Problem &problem);

/// Sets the times of copies: `time` for a memory unit, in either direction.
/// Also sets the memory that each chunk can offload to `share`, from 0 to 1, of
/// what its F adds. Without `share` that memory is unchanged; but if no chunk
/// could offload anything, it becomes all that F adds.
void setOffload(Problem &problem, double time,
                std::optional<double> share = std::nullopt);

/// The problem in which this share of what a chunk can offload is added only by
/// its reader. With a share of 1 it gives lower bounds: no schedule of
/// `problem` with offloads holds less at any time. With any share, generators
/// that follow limits make orders for it.
Problem withoutShare(const Problem &problem, double share);

/// A limit of `stage` below which there is no schedule, whatever it offloads:
/// an F has all that it adds on the device.
std::int64_t leastLimitWithOffloads(const Problem &problem, int stage);

/// Adds offloads to a schedule that has none.
///
/// With memory limits, every stage offloads as much as its limit requires, and
/// waits for copies that would be too late. The error (OutOfMemory) says what
/// the stage needs with offloads.
///
/// Without limits, it lowers the peak of all stages as far as a step takes at
/// most 1 + `tolerance` times as long by the objective. No stage goes lower
/// than the worst one.
///
/// At each step above the limit, the values whose reader is furthest away
/// leave. This is Belady's rule, which is optimal if all values are equally
/// large and copies take no time. Values return as late as possible while all
/// copies back, which run one after the other, are in time. Expects a schedule
/// that `verify` accepts without limits. O(n log n) for n operations and for
/// each limit that is tried, about 20 at most.
Expected<Schedule> addOffloads(const Problem &problem, Schedule schedule,
                               Objective objective, double tolerance = 0.01);

/// Where a schedule that was planned with offloads has none, adds a warning
/// that says why.
void warnOfNoOffloads(const Problem &problem, Schedule &schedule,
                      Objective objective);

/// As `generate`, with offloads; with a warning where there are none.
///
/// With memory limits: the best of several orders by the objective, each with
/// the offloads that it needs. One order is generated without limits. The
/// others are generated under the limits, for `withoutShare` with several
/// shares from 0 to 1.
///
/// Without limits: the order with the lowest peak found whose step takes at
/// most 1 + `tolerance` times as long as the order without offloads.
Expected<Schedule> generateWithOffloads(std::string_view name,
                                        const Problem &problem,
                                        const GeneratorOptions &options,
                                        double tolerance = 0.01);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_OFFLOAD_H
