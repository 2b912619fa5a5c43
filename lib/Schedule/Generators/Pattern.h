//===- Pattern.h - one microbatch, repeated ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_PATTERN_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_PATTERN_H

#include "Plan.h"

namespace veeline::schedule {

/// The start of every F and B of microbatch 0. Those of microbatch i start i
/// periods later.
struct Pattern {
  double period;
  /// By stage and code.
  std::vector<double> starts;
};

/// How a pattern is stretched. The longer a microbatch is in flight, the more
/// microbatches are in flight at once, and the more memory is needed.
struct PatternOptions {
  /// The delay of a step after its input, as a share of its cost: for F and B
  /// on even legs (down the stages on a V) and on odd legs (up).
  double forwardSlack = 0, backwardSlack = 0;
  double forwardSlackUp = 0, backwardSlackUp = 0;
  /// The same delay for the first B.
  double turn = 0;
  /// With 0, the costs are those of the problem. With 1, all F, B and W take
  /// the same time, and transfers none. Values between interpolate.
  double evenness = 0;
  /// Whether the steps of one stage, including those of all other periods, must
  /// not overlap.
  bool disjoint = false;
  /// The period as a multiple of the work of the busiest stage.
  double stretch = 1;
};

/// Takes one microbatch through all chunks, each step as soon as its inputs and
/// the options permit. O(chunks · v).
Pattern makePattern(const Problem &problem, const LegProblem &legs,
                    const PatternOptions &options);

/// Returns the plan with F and B of this many microbatches, by the times of the
/// pattern.
Plan planOf(const LegProblem &legs, const Pattern &pattern, int microbatches);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_PATTERN_H
