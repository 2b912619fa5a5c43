//===- Widths.h - stages of several ranks -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN
// Training (SOSP 2019), section 3.2, give a stage several workers, send
// microbatches to them round-robin, and have as many in flight for each worker
// of the first stage as there are workers for each of them: 1F1B-RR.
//
// That is 1F1B where a stage of w workers counts as w stages of a w-th of its
// work, and takes the order of the first of them. Said so it is not about 1F1B:
// any schedule for so many stages gives an order for these.
//
// Nothing waits in a circle. What a chunk needs of another one, the chunks of
// the many stages between the two need of each other, so in their schedule it
// comes earlier; and a rank leaves operations out of its stage's order, but
// moves none.
//
// A memory limit is one of each rank. All w ranks of a stage together hold what
// the first of the w stages has in flight, so orders within w times the limit
// are all that there can be, and orders within the limit fit whatever turns do.
// Between the two it depends on which microbatches are in flight: the schedule
// is asked for less room for as long as a rank holds too much.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_WIDTHS_H
#define VEELINE_SCHEDULE_WIDTHS_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

/// The orders of the stages of `schedule` as those of their ranks: each runs
/// its own microbatches. Blocks of operations that overlap are dissolved: they
/// are of two microbatches.
Schedule spreadOverRanks(const Problem &problem, const Schedule &schedule);

/// Schedule `name` for a problem with `Problem::widths`, as said above. `auto`
/// is the best for the ranks as they are of its own order and those of all
/// other synchronous schedules. The result need not be within the limits: where
/// none of the orders is, it is the one that comes closest, for `verify` to
/// refuse. Errors are those of the generator for so many stages, and
/// NotApplicable for a placement by list.
Expected<Schedule> generateForWidths(std::string_view name,
                                     const Problem &problem,
                                     const GeneratorOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_WIDTHS_H
