//===- Plan.h - a fixed order of F and B ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_PLAN_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_PLAN_H

#include "LegBuilder.h"

namespace veeline::schedule {

/// The order of F and B of every stage, as codes of steps; the microbatches of
/// each ascend. `planWeight` among them asks that by then one more W has run.
/// Those that are not asked for fill gaps.
using Plan = std::vector<std::vector<std::int32_t>>;

constexpr std::int32_t planWeight = -1;

/// The order in which F and B alternate in blocks F0 B0 F1 B1 (with the leg),
/// regardless of costs: 2(p-s)-1 forwards down, s pairs of a forward up and
/// down, p-s pairs of F and B up, then the blocks, then the backwards that are
/// left, with W after each B except for s pairs of B at the end. A stage holds
/// at most 2p forwards. (PyTorch's ScheduleZBVZeroBubble has this order.)
Plan blockPlan(int stages, int microbatches);

struct PlanOptions {
  /// Whether `planWeight` counts.
  bool keepWeights = true;
  /// Before waiting for an input, run W that delay what waits by at most this
  /// share of their cost; 0: only W that fit.
  double overrun = 0;
};

/// Places F and B in the order of the plan, and W by the options. With
/// `keepWeights` and no overrun, no operation ends later than where W run just
/// as the plan says. Returns false where memory limits do not admit the order,
/// or where it certainly misses the builder's goal. O(operations), times the
/// number of sweeps over the stages that one microbatch takes.
bool buildPlan(LegBuilder &builder, const Plan &plan,
               const PlanOptions &options);

/// The plan that repeats what was built.
Plan planOf(const LegProblem &problem, const LegBuilder::Orders &orders);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_PLAN_H
