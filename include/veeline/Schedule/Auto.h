//===- Auto.h - the schedule that is searched, and reasons ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule `auto` is the best of all others that apply and of a search; it
// is generated like any other. Here is what it does beyond that: choosing the
// placement, a schedule for every limit, and saying why a schedule waits.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_AUTO_H
#define VEELINE_SCHEDULE_AUTO_H

#include "veeline/Schedule/Formats.h"
#include "veeline/Schedule/Generators.h"

#include <functional>
#include <string>
#include <vector>

namespace veeline::schedule {

/// The problem of a placement; an error where it has none.
using ProblemMaker = std::function<Expected<Problem>(const Placement &)>;

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

/// An operation on the critical path.
struct CriticalStep {
  int stage, step;
  Op op;
  double start, end;
  /// Time of the transfer that it waits for; 0 where it follows an operation
  /// of its own stage.
  double transfer;
};

/// Something that could be different, and the step then.
struct Change {
  enum class Kind {
    /// One more microbatch.
    Microbatch,
    /// One more activation of a whole stage, on all stages.
    Memory,
    /// Links twice as fast.
    Transfer,
    /// All stages equally heavy.
    Balance,
  };
  Kind kind;
  /// "one more microbatch"
  std::string what;
  /// Of the step with the change.
  double makespan, bubbleMakespan, bubbleSpan;
  /// How much shorter a microbatch becomes, as a share of its time now by the
  /// objective; negative where it becomes longer.
  double gain;
};

/// Why a schedule takes the time that it takes.
struct Explanation {
  Objective objective;
  /// What the schedule reaches: the makespan, or the longest span.
  double value;
  /// No schedule of the problem takes less (Bounds.h).
  double lowerBound;
  /// (value - lowerBound) / lowerBound.
  double gap;
  /// The operations that make up the makespan, in order: each starts when the
  /// one before it ends, or when its message arrives.
  std::vector<CriticalStep> path;
  /// Of the makespan, the shares along the path.
  double forwardShare, backwardShare, weightShare, transferShare;
  /// What would shorten the step, most first.
  std::vector<Change> changes;

  /// The path and the changes in a few lines of text.
  std::string str() const;
};

/// Explains a valid schedule. Changes are solved again by the generator of the
/// schedule's name, each in a tenth of the search time, or by `auto` where the
/// name has none. Errors as of `simulate`.
Expected<Explanation> explain(const Problem &problem, const Schedule &schedule,
                              const GeneratorOptions &options = {});

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_AUTO_H
