//===- PatternSearch.h - the best of many patterns --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_PATTERNSEARCH_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_PATTERNSEARCH_H

#include "Attempts.h"

namespace veeline::schedule {

/// Offers what patterns of many shapes give within the limits of the builder's
/// problem: first those of a table, then random ones, then variations of the
/// best. The choice depends on the problem alone. Places about `budget`
/// operations in all, but at least those of one pattern that fits, if one does.
/// A long step is searched with fewer stages and microbatches of the same
/// costs, and only the best of what that gives is built in full.
void searchPatterns(const Problem &problem, LegBuilder &builder,
                    std::int64_t budget, Best &best);

/// Follows the order of the best once more, with other rules for what runs in
/// its gaps, as long as that makes it better and the budget of operations
/// lasts.
void polish(LegBuilder &builder, std::int64_t budget, Best &best);

/// Patterns, list scheduling and polishing within the usual budget of
/// operations, which is larger where memory is tight or nothing was found.
/// After this `best` has an order if every limit is at least
/// `LegProblem::leastLimit`.
void offerMore(const Problem &problem, LegBuilder &builder, Best &best);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_PATTERNSEARCH_H
