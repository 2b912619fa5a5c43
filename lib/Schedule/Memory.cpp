//===- Memory.cpp - amounts of memory in messages -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <cstdio>

using namespace veeline::schedule;

std::string veeline::schedule::formatMemoryNumber(const Problem &problem,
                                                  std::int64_t amount) {
  if (amount % problem.memoryUnit.size == 0)
    return std::to_string(amount / problem.memoryUnit.size);
  char text[64];
  std::snprintf(text, sizeof text, "%.4g",
                static_cast<double>(amount) / problem.memoryUnit.size);
  return text;
}

std::string veeline::schedule::formatMemory(const Problem &problem,
                                            std::int64_t amount) {
  std::string number = formatMemoryNumber(problem, amount);
  std::string unit = problem.memoryUnit.name;
  // "1 activation".
  if (number == "1" && unit.ends_with('s'))
    unit.pop_back();
  return number + " " + unit;
}
