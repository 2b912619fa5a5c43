//===- FlexiblePlan.h - a plan that adapts to gaps --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_FLEXIBLEPLAN_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_FLEXIBLEPLAN_H

#include "Plan.h"

namespace veeline::schedule {

struct FlexiblePlanOptions {
  /// How many steps of the plan a stage looks ahead, for one to run while the
  /// next one waits for its input.
  int window = 0;
  /// Run a step ahead of its turn if it delays the next one by at most this
  /// share of its own cost.
  double overrun = 0;
  /// The same for W.
  double weightOverrun = 0;
};

/// Follows the plan in the order of time, ignoring `planWeight`. Where the next
/// step of a stage waits for its input, runs a later one that is ready and ends
/// before that, if the rest of the plan then still fits in memory, or else a W.
/// Returns false where memory limits do not admit the plan, or where it
/// certainly misses the builder's goal. O(operations · (log stages + window)).
bool buildFlexiblePlan(LegBuilder &builder, const Plan &plan,
                       const FlexiblePlanOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_FLEXIBLEPLAN_H
