//===- PatternSearch.h - the best of many patterns --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_PATTERNSEARCH_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_PATTERNSEARCH_H

#include "Attempts.h"

namespace veeline::schedule {

/// Offers patterns, list scheduling and polishing within the usual budget of
/// operations, which is larger if memory is tight or nothing was found before.
/// Afterwards `best` has an order if every limit is at least
/// `LegProblem::leastLimit`.
void offerMore(const Problem &problem, LegBuilder &builder, Best &best);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_PATTERNSEARCH_H
