//===- Memory.h - printing amounts of memory --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_MEMORY_H
#define VEELINE_SCHEDULE_MEMORY_H

#include "veeline/Schedule/Problem.h"

namespace veeline::schedule {

/// "3.5 activations", in the unit of the problem; whole numbers without a
/// point. Bytes are formatted as by `formatBytes`, but rounded up, so that the
/// printed number suffices as a limit.
std::string formatMemory(const Problem &problem, std::int64_t amount);
/// "1.5 MiB", "768 B": at most five digits, in the greatest unit that does not
/// exceed the amount.
std::string formatBytes(double bytes);
/// The number of `formatMemory` without the unit.
std::string formatMemoryNumber(const MemoryUnit &unit, std::int64_t amount);
inline std::string formatMemoryNumber(const Problem &problem,
                                      std::int64_t amount) {
  return formatMemoryNumber(problem.memoryUnit, amount);
}

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_MEMORY_H
