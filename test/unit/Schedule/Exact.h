//===- Exact.h - the best schedule of a tiny problem ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_EXACT_H
#define VEELINE_TEST_UNIT_SCHEDULE_EXACT_H

#include "veeline/Schedule/Generators.h"

#include <optional>

namespace veeline::schedule::reference {

/// The least makespan (or longest span) over all orders that `verify` accepts
/// and that have either all backwards split or all fused. Uses branch and bound
/// over orders that append operations by their start. None if no order fits the
/// limits, or none is better than `below`. All costs must be positive.
std::optional<double> leastTime(const Problem &problem, Objective objective,
                                bool fused, double below);

} // namespace veeline::schedule::reference

#endif // VEELINE_TEST_UNIT_SCHEDULE_EXACT_H
