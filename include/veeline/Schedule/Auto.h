//===- Auto.h - the search for a schedule -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `auto` is the best of a search and of all other schedules that apply. It is
// generated like any other schedule (Generators.h). This header adds the choice
// of a placement, and schedules for several memory limits.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_AUTO_H
#define VEELINE_SCHEDULE_AUTO_H

#include "veeline/Schedule/Generators.h"

#include <functional>
#include <vector>

namespace veeline::schedule {

/// Makes the problem for a placement, or returns an error if there is none.
using ProblemMaker = std::function<Expected<Problem>(const Placement &)>;

/// What `auto` chose: a placement, and the schedule that it found there.
struct AutoChoice {
  Placement placement;
  Schedule schedule;
};

/// Runs `auto` on each placement, in equal shares of the search time, and
/// returns the best result by the objective under `options.simulation`. On a
/// tie the first placement wins. The result is not worse than any other
/// synchronous schedule on any of the placements; for the span this holds only
/// if all stages are equally busy. If no placement has a problem and a
/// schedule, the error is that of the last placement; without placements it is
/// NotApplicable.
Expected<AutoChoice> autoAmong(std::vector<Placement> placements,
                               const ProblemMaker &makeProblem,
                               const GeneratorOptions &options = {});

/// The placements that `auto` chooses among by default: p stages of v chunks
/// each, or of 1, 2 and 4 where v = 0. Fewest chunks come first.
std::vector<Placement> autoPlacements(int stages, int chunksPerStage);

/// Solves a problem under one memory limit of all stages.
using LimitSolver = std::function<Expected<Solution>(std::int64_t limit)>;

/// Solves for several memory limits, in ascending order; each limit holds for
/// all stages. Each solution is at least as good by the objective as those for
/// lower limits: if `solve` finds nothing better for a limit, the previous
/// solution is used again. An entry is an error if neither its limit nor a
/// lower one has a solution.
std::vector<Expected<Solution>>
solveForLimits(const std::vector<std::int64_t> &limits, Objective objective,
               const LimitSolver &solve);

/// `solveForLimits` with `auto`. An entry is an error if its limit is below the
/// least possible one.
std::vector<Expected<Schedule>>
autoForLimits(Problem problem, const std::vector<std::int64_t> &limits,
              const GeneratorOptions &options = {});

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_AUTO_H
