//===- Widths.h - stages of several ranks -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schedules for stages of several ranks, which run their microbatches
// round-robin. They generalise 1F1B-RR of Narayanan et al., PipeDream:
// Generalized Pipeline Parallelism for DNN Training (SOSP 2019), section 3.2.
// There each worker of the first stage has as many microbatches in flight as
// the number of all workers divided by the number of workers of the first
// stage.
//
// 1F1B-RR equals 1F1B if a stage of w workers counts as w stages, each with 1/w
// of its work, and takes the order of the first of them. This works for any
// schedule: an order for the many stages gives an order for the ranks.
//
// The result cannot deadlock. If a chunk needs another one, the chunks of the
// many stages between the two need each other in a chain, so the schedule runs
// the needed chunk earlier. A rank leaves operations out of its stage's order,
// but does not move any.
//
// A memory limit applies to each rank. The w ranks of a stage together hold
// what the first of the w stages has in flight. So an order that needs more
// than w times the limit does not fit, and one within the limit does. In
// between, it depends on which microbatches are in flight: while a rank holds
// too much, the schedule is generated again with less memory.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_WIDTHS_H
#define VEELINE_SCHEDULE_WIDTHS_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

/// Turns the order of each stage into orders for its ranks. Each rank runs only
/// its own microbatches. Overlapped blocks are dissolved, since the two
/// microbatches of a block may be on different ranks.
Schedule spreadOverRanks(const Problem &problem, const Schedule &schedule);

/// Schedule `name` for a problem with `Problem::widths`, made as described
/// above. `auto` is the best, on the actual ranks, of its own order and those
/// of all other synchronous schedules. If no order is within the limits, the
/// result is the one that comes closest; `verify` rejects it. Errors: those of
/// the generator for the many stages, and NotApplicable for a placement by
/// list.
Expected<Schedule> generateForWidths(std::string_view name,
                                     const Problem &problem,
                                     const GeneratorOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_WIDTHS_H
