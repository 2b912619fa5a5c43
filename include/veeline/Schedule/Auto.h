//===- Auto.h - the schedule that is searched -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `auto` is generated like any other schedule: it is the best of all others
// that apply and of a search. This header adds the choice of a placement, and
// schedules for several memory limits.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_AUTO_H
#define VEELINE_SCHEDULE_AUTO_H

#include "veeline/Schedule/Generators.h"

#include <functional>
#include <vector>

namespace veeline::schedule {

/// Makes the problem for a placement; an error where there is none.
using ProblemMaker = std::function<Expected<Problem>(const Placement &)>;

/// What `auto` chose: a placement, and the schedule that it found there.
struct AutoChoice {
  Placement placement;
  Schedule schedule;
};

/// Runs `auto` on each placement, in equal shares of the search time, and
/// returns the best result by the objective under `options.simulation`. So it
/// is not worse than any other synchronous schedule on any of them; for the
/// span, that holds where all stages are equally busy. On a tie the first
/// placement wins. Where no placement has a problem and a schedule,
/// the error is that of the last one; without placements it is NotApplicable.
Expected<AutoChoice> autoAmong(std::vector<Placement> placements,
                               const ProblemMaker &makeProblem,
                               const GeneratorOptions &options = {});

/// The placements that `auto` chooses among by default: p stages of v chunks
/// each, or of 1, 2 and 4 where v = 0. Fewest chunks come first.
std::vector<Placement> autoPlacements(int stages, int chunksPerStage);

/// Solves a problem under one memory limit of all stages.
using LimitSolver = std::function<Expected<Solution>(std::int64_t limit)>;

/// Solves for several memory limits of all stages, ascending. Each solution is
/// at least as good by the objective as those for lower limits, whatever luck a
/// search has: where `solve` finds nothing better for a limit, the previous
/// solution is used again. An entry is an error where neither its limit nor a
/// lower one has a solution.
std::vector<Expected<Solution>>
solveForLimits(const std::vector<std::int64_t> &limits, Objective objective,
               const LimitSolver &solve);

/// `solveForLimits` with `auto`. An entry is an error where its limit is below
/// the least possible.
std::vector<Expected<Schedule>>
autoForLimits(Problem problem, const std::vector<std::int64_t> &limits,
              const GeneratorOptions &options = {});

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_AUTO_H
