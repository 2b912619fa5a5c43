//===- Memory.cpp - amounts of memory in messages -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include "Formats/Numbers.h"

#include <cmath>

using namespace veeline::schedule;

std::string veeline::schedule::formatMemoryNumber(const MemoryUnit &unit,
                                                  std::int64_t amount) {
  if (amount % unit.size == 0)
    return std::to_string(amount / unit.size);
  double value = static_cast<double>(amount) / unit.size;
  // Large amounts are whole numbers, not powers of ten.
  return formatted(std::abs(value) < 9999.5 ? "%.4g" : "%.0f", value);
}

std::string veeline::schedule::formatMemory(const Problem &problem,
                                            std::int64_t amount) {
  // A few bytes say more than a thousandth of a KiB.
  if (problem.memoryUnit.name.ends_with("iB") && amount > 0 &&
      amount < problem.memoryUnit.size)
    return std::to_string(amount) + " B";
  std::string number = formatMemoryNumber(problem, amount);
  std::string unit = problem.memoryUnit.name;
  // "1 activation".
  if (number == "1" && unit.ends_with('s'))
    unit.pop_back();
  return number + " " + unit;
}
