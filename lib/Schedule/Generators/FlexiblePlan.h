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
  /// The number of steps of the plan that a stage looks ahead, to find one that
  /// can run while the next one waits for its input.
  int window = 0;
  /// A step runs ahead of its turn if it delays the next one by at most this
  /// share of its own cost.
  double overrun = 0;
  /// Like `overrun`, for W.
  double weightOverrun = 0;
};

/// Follows the plan in the order of time, and ignores `planWeight`. If the next
/// step of a stage waits for its input, runs a later step that is ready and
/// ends before that, provided that the rest of the plan still fits into memory.
/// Otherwise runs a W. Returns false if memory limits do not admit the plan, or
/// if it certainly misses the builder's goal. O(operations · (log stages +
/// window)).
bool buildFlexiblePlan(LegBuilder &builder, const Plan &plan,
                       const FlexiblePlanOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_FLEXIBLEPLAN_H
