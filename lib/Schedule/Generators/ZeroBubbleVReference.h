//===- ZeroBubbleVReference.h - ZB-V as published ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_ZEROBUBBLEVREFERENCE_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_ZEROBUBBLEVREFERENCE_H

#include "LegBuilder.h"

namespace veeline::schedule {

/// Returns the published order of a problem on a V. Fails with OutOfMemory if a
/// stage's limit does not admit it.
Expected<LegBuilder::Orders> referenceOrders(const Problem &problem);

/// Returns what each stage needs for the published order without its extra
/// forwards. That order depends only on counts, not on times or limits.
std::vector<std::int64_t> referenceLimits(const Problem &problem);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_ZEROBUBBLEVREFERENCE_H
