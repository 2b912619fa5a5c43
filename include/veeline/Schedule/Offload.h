//===- Offload.h - activations in the host's memory -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a chunk keeps between F and its backward may wait in the host's memory.
// The copies are operations of links, not of the rank: each rank has one link
// to the host and one back, and computes while they are busy. So offloading
// trades memory for time only where a copy is not over when the rank needs the
// memory, or the values. Wan et al., "PipeOffload: Improving Scalability of
// Pipeline Parallelism with Memory Optimization" (2025), arXiv 2503.01328: for
// transformers, half of all activations or more can be offloaded at nearly no
// time, and those that wait longest first.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_OFFLOAD_H
#define VEELINE_SCHEDULE_OFFLOAD_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

/// Whether any chunk has memory that can be offloaded.
bool canOffload(const Problem &problem);

/// Says how long copies take: `time` for a memory unit, there or back. Sets
/// what each chunk can offload to `share` of what its F adds, from 0 to 1.
/// Without one that stays as it is, or is all of it where no chunk can offload
/// any.
void setOffload(Problem &problem, double time,
                std::optional<double> share = std::nullopt);

/// The problem in which chunks hold this share of what they can offload from
/// their reader on only. With the whole, no schedule of `problem` with offloads
/// holds less at any time: for lower bounds. With any share, for orders of
/// generators that follow limits.
Problem withoutShare(const Problem &problem, double share);

/// A limit of `stage` below which there is no schedule, whatever it offloads:
/// an F has all that it adds on the device.
std::int64_t leastLimitWithOffloads(const Problem &problem, int stage);

/// Adds offloads to a schedule that has none.
///
/// With memory limits, every stage offloads what it has to: where copies would
/// be too late, it waits for them. The error (OutOfMemory) says what the stage
/// needs with offloads.
///
/// Without limits, peaks become as low as they can for a step that takes at
/// most 1 + `tolerance` times as long by the objective. Stages do not go lower
/// than the worst one has to.
///
/// At each step above the limit, the values leave whose reader is furthest away
/// (Belady's rule, which is optimal where all are equally large and copies take
/// no time). They return as late as their copies back, one after the other, are
/// still in time. Expects a schedule that `verify` accepts without limits.
/// O(n log n) for n operations, for each of at most about 20 limits that are
/// tried.
Expected<Schedule> addOffloads(const Problem &problem, Schedule schedule,
                               Objective objective, double tolerance = 0.01);

/// Where a schedule that was planned with offloads has none, adds a warning
/// that says why.
void warnOfNoOffloads(const Problem &problem, Schedule &schedule,
                      Objective objective);

/// As `generate`, with offloads; with a warning where there are none.
///
/// With memory limits: the best by the objective of several orders, each with
/// the offloads that it needs. They are generated under these limits for
/// problems that differ in how much of what can be offloaded a chunk holds
/// before its reader, from all to nothing, and without limits.
///
/// Without limits: the lowest peak that is found for a step that takes at most
/// 1 + `tolerance` times as long as the order without offloads.
Expected<Schedule> generateWithOffloads(std::string_view name,
                                        const Problem &problem,
                                        const GeneratorOptions &options,
                                        double tolerance = 0.01);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_OFFLOAD_H
