//===- Path.h - the critical path of a simulated schedule -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_EXPLAIN_PATH_H
#define VEELINE_LIB_SCHEDULE_EXPLAIN_PATH_H

#include "Trace.h"
#include "veeline/Schedule/Explain.h"

namespace veeline::schedule {

/// The stage that determines the objective: it ends last, or has the longest
/// span.
int decisiveStage(const Simulation &simulation, Objective objective);

/// The path to the last operation of the decisive stage. For the span, it
/// starts with the first operation of that stage.
std::vector<CriticalStep> criticalPath(const Simulation &simulation,
                                       const Trace &trace, Objective objective);

PathShares sharesOf(const Problem &problem, const Schedule &schedule,
                    const std::vector<CriticalStep> &path);

PathParts partsOf(int ranks, const std::vector<CriticalStep> &path);

std::optional<MemoryWait> memoryWait(const Problem &problem,
                                     const Schedule &schedule,
                                     const Simulation &simulation,
                                     const OpIndex &index);

/// Solves the problem again with each change. Sets `changes` and `solver`.
void addChanges(const Problem &problem, const Schedule &schedule,
                const Simulation &simulation, const GeneratorOptions &options,
                Explanation &result);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_EXPLAIN_PATH_H
