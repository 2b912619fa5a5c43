//===- Widths.h - stages of several ranks -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN
// Training (SOSP 2019), section 3.2, give a stage several workers and send
// microbatches to them round-robin. Each worker of the first stage has as many
// microbatches in flight as there are workers in all, divided by those of the
// first stage: 1F1B-RR.
//
// That is 1F1B where a stage of w workers counts as w stages, each with a w-th
// of its work, and takes the order of the first of them. Nothing in this
// depends on 1F1B: any schedule for the many stages gives an order for the
// ranks.
//
// The result cannot deadlock. Where a chunk needs another one, the chunks of
// the many stages between the two need each other in a chain, so their schedule
// has what is needed earlier. And a rank leaves operations out of its stage's
// order, but moves none.
//
// A memory limit applies to each rank. All w ranks of a stage together hold
// what the first of the w stages has in flight. So no order above w times the
// limit fits, and every order within the limit does. In between, it depends on
// which microbatches are in flight: the schedule is generated again with less
// room as long as a rank holds too much.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_WIDTHS_H
#define VEELINE_SCHEDULE_WIDTHS_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

/// Turns the order of each stage into one for each of its ranks, which runs
/// only its own microbatches. Dissolves overlapped blocks, since the two
/// microbatches of a block may be on different ranks.
Schedule spreadOverRanks(const Problem &problem, const Schedule &schedule);

/// Schedule `name` for a problem with `Problem::widths`, as said above. `auto`
/// is the best, on the actual ranks, of its own order and those of all other
/// synchronous schedules. The result may exceed the limits: where no order is
/// within them, it is the one that comes closest, for `verify` to refuse.
/// Errors are those of the generator for the many stages, and NotApplicable for
/// a placement by list.
Expected<Schedule> generateForWidths(std::string_view name,
                                     const Problem &problem,
                                     const GeneratorOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_WIDTHS_H
