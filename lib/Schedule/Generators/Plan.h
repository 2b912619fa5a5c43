//===- Plan.h - a fixed order of F and B ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_PLAN_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_PLAN_H

#include "LegBuilder.h"

namespace veeline::schedule {

/// The order of F and B of every stage, as codes of steps. The microbatches of
/// each code ascend. A `planWeight` among them requires that one more W has run
/// by then. The other W fill gaps.
using Plan = std::vector<std::vector<std::int32_t>>;

constexpr std::int32_t planWeight = -1;

/// Returns the order in which F and B alternate in blocks F0 B0 F1 B1 (with the
/// leg), regardless of costs. It has 2(p-s)-1 forwards down, s pairs of a
/// forward up and down, p-s pairs of F and B up, then the blocks, then the
/// remaining backwards. W follows each B, except for s pairs of B at the end. A
/// stage holds at most 2p forwards. (PyTorch's ScheduleZBVZeroBubble has this
/// order.)
Plan blockPlan(int stages, int microbatches);

struct PlanOptions {
  /// Whether `planWeight` is obeyed.
  bool keepWeights = true;
  /// Before waiting for an input, run W that delay the waiting operation by at
  /// most this share of their cost. With 0, run only W that fit.
  double overrun = 0;
};

/// Places F and B in the order of the plan, and W according to the options.
/// With `keepWeights` and no overrun, no operation ends later than if W ran
/// exactly as the plan says. Returns false if memory limits do not admit the
/// order, or if it certainly misses the builder's goal. O(operations), times
/// the number of sweeps over the stages that one microbatch takes.
bool buildPlan(LegBuilder &builder, const Plan &plan,
               const PlanOptions &options);

/// Returns the plan that repeats these orders.
Plan planOf(const LegProblem &problem, const LegBuilder::Orders &orders);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_PLAN_H
