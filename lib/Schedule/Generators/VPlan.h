//===- VPlan.h - a V schedule with a fixed order of F and B -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_VPLAN_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_VPLAN_H

#include "VBuilder.h"

namespace veeline::schedule {

/// The order of F and B of every stage, as codes 2 · direction + leg; the
/// microbatches of each ascend. `planWeight` among them asks for the W that is
/// owed longest, if any is; those that are not asked for fill gaps.
using VPlan = std::vector<std::vector<std::uint8_t>>;

constexpr std::uint8_t planWeight = 4;

/// The order in which F and B alternate in blocks F0 B0 F1 B1 with no regard to
/// costs: 2(p-s)-1 forwards down, s pairs of a forward up and down, p-s pairs
/// of F and B up, then the blocks, then the backwards that are left, with W
/// after each B except for s pairs of B at the end. A stage holds at most 2p
/// forwards. (PyTorch's ScheduleZBVZeroBubble has this order.)
VPlan blockPlan(int stages, int microbatches);

struct VPlanOptions {
  /// Whether `planWeight` counts.
  bool keepWeights = true;
  /// Before waiting for an input, run W that delay what waits by at most this
  /// share of their cost; 0: only W that fit.
  double overrun = 0;
};

/// Places F and B in the order of the plan, and W after the options. Returns
/// false where memory limits do not admit the order. O(operations).
bool buildVPlan(VBuilder &builder, const VPlan &plan,
                const VPlanOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_VPLAN_H
