//===- Auto.h - the schedule that is searched -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule `auto` is the best of all others that apply and of a search; it
// is generated like any other. Here is what it does beyond that: choosing the
// placement, and a schedule for every limit.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_AUTO_H
#define VEELINE_SCHEDULE_AUTO_H

#include "veeline/Schedule/Generators.h"

#include <functional>
#include <vector>

namespace veeline::schedule {

/// The problem of a placement; an error where it has none.
using ProblemMaker = std::function<Expected<Problem>(const Placement &)>;

/// What `auto` chose: a placement, and the schedule that it found there.
struct AutoChoice {
  Placement placement;
  Schedule schedule;
};

/// The best of `auto` on each of the placements, in equal shares of the search
/// time, by the objective and `options.simulation`: so it is not worse than any
/// other synchronous schedule on any of them. Of equally good ones, the first.
/// The error is that of the last placement, where none has a problem and a
/// schedule; none: NotApplicable.
Expected<AutoChoice> autoAmong(std::vector<Placement> placements,
                               const ProblemMaker &makeProblem,
                               const GeneratorOptions &options = {});

/// The placements of p stages that `auto` chooses among where nobody says more:
/// of v chunks a stage, or, with v = 0, of 1, 2 and 4; fewest chunks first.
std::vector<Placement> autoPlacements(int stages, int chunksPerStage);

/// The placement of p stages with which `auto` reaches the best objective in
/// equal shares of the search time: of v chunks a stage, or, with v = 0, of 1,
/// 2 and 4. Of equally good ones, that with fewest chunks. The error is that of
/// the last placement, where none has a problem and a schedule.
Expected<Placement> autoPlacement(int stages, int chunksPerStage,
                                  const ProblemMaker &makeProblem,
                                  const GeneratorOptions &options = {});

/// Solves a problem under one memory limit of all stages.
using LimitSolver = std::function<Expected<Solution>(std::int64_t limit)>;

/// Solutions for several memory limits of all stages, ascending: each at least
/// as good by the objective as those for less memory, whatever luck a search
/// has. Where `solve` finds nothing better for a limit, its solution is the one
/// before. An entry is an error where there is none for its limit or less.
std::vector<Expected<Solution>>
solveForLimits(const std::vector<std::int64_t> &limits, Objective objective,
               const LimitSolver &solve);

/// The same with `auto`. Here the errors are for limits that are below the
/// least possible.
std::vector<Expected<Schedule>>
autoForLimits(Problem problem, const std::vector<std::int64_t> &limits,
              const GeneratorOptions &options = {});

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_AUTO_H
