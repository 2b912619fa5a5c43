//===- Pattern.h - one microbatch, repeated ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_PATTERN_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_PATTERN_H

#include "Plan.h"

namespace veeline::schedule {

/// The start of every F and B of microbatch 0; those of microbatch i start i
/// periods later.
struct Pattern {
  double period;
  /// By stage and code.
  std::vector<double> starts;
};

/// How a pattern is stretched. The longer a microbatch is in flight, the more
/// of them are at once, and the more memory that takes.
struct PatternOptions {
  /// How much later than its input a step starts, as a share of its cost: F and
  /// B on even legs (on a V, down the stages) and on odd legs (up).
  double forwardSlack = 0, backwardSlack = 0;
  double forwardSlackUp = 0, backwardSlackUp = 0;
  /// The same for the first B.
  double turn = 0;
  /// 0: with the costs of the problem. 1: as if all F, B and W took the same
  /// time, and transfers none. Values between mix the two.
  double evenness = 0;
  /// Whether the steps of one stage must not overlap, those of all periods
  /// together.
  bool disjoint = false;
  /// The period, as a multiple of the work of the busiest stage.
  double stretch = 1;
};

/// Leads one microbatch through all chunks, each step as soon as its inputs and
/// the options permit. O(chunks · v).
Pattern makePattern(const Problem &problem, const LegProblem &legs,
                    const PatternOptions &options);

/// The plan with F and B of so many microbatches by the times of the pattern.
Plan planOf(const LegProblem &legs, const Pattern &pattern, int microbatches);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_PATTERN_H
