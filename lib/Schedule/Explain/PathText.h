//===- PathText.h - the critical path in a few rows -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_EXPLAIN_PATHTEXT_H
#define VEELINE_LIB_SCHEDULE_EXPLAIN_PATHTEXT_H

#include "veeline/Schedule/Explain.h"

namespace veeline::schedule {

/// Returns a table of the operations in order. Successive operations on one
/// stage, or of one microbatch from stage to stage, are one row. If there are
/// more than `maxRows` rows, those in the middle are merged.
std::string pathTable(const Problem &problem, const Schedule &schedule,
                      const std::vector<CriticalStep> &path, int maxRows);

/// Returns a text such as "72.7%".
std::string percent(double part, double whole);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_EXPLAIN_PATHTEXT_H
