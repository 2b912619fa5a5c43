//===- Memory.cpp - printing amounts of memory ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Memory.h"
#include "veeline/Base/Numbers.h"

#include <cmath>

using namespace veeline;
using namespace veeline::schedule;

std::string veeline::schedule::formatMemoryNumber(const MemoryUnit &unit,
                                                  std::int64_t amount) {
  if (amount % unit.size == 0)
    return std::to_string(amount / unit.size);
  double value = static_cast<double>(amount) / unit.size;
  // Large amounts are printed as whole numbers, not with an exponent.
  return formatted(std::abs(value) < 9999.5 ? "%.4g" : "%.0f", value);
}

namespace {
struct Bytes {
  double value;
  const char *unit;
};
} // namespace

static Bytes scaled(double bytes) {
  constexpr const char *names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int power = 0;
  // A number that would be rounded to 1024 becomes one of the next unit.
  for (; std::abs(bytes) >= 1023.95 && power < 5; ++power)
    bytes /= 1024;
  return {bytes, names[power]};
}

static std::string str(const Bytes &bytes) {
  return formatted("%.5g ", bytes.value) + bytes.unit;
}

std::string veeline::schedule::formatBytes(double bytes) {
  return str(scaled(bytes));
}

/// Rounds to five digits, never down, because users type the value as a limit.
static double roundedUp(double value) {
  if (value < 1)
    return value;
  double scale = std::pow(10, 4 - std::floor(std::log10(value)));
  return std::ceil(value * scale - 1e-6) / scale;
}

/// Whether the unit of memory is bytes, or a multiple.
static bool isInBytes(const MemoryUnit &unit) {
  return (unit.size == 1 && unit.name == "B") ||
         (unit.size == 1 << 10 && unit.name == "KiB") ||
         (unit.size == 1 << 20 && unit.name == "MiB");
}

std::string veeline::schedule::formatMemory(const Problem &problem,
                                            std::int64_t amount) {
  if (isInBytes(problem.memoryUnit)) {
    Bytes bytes = scaled(static_cast<double>(amount));
    return str({roundedUp(bytes.value), bytes.unit});
  }
  std::string number = formatMemoryNumber(problem, amount);
  std::string unit = problem.memoryUnit.name;
  // Prints "1 activation".
  if (number == "1" && unit.ends_with('s'))
    unit.pop_back();
  return number + " " + unit;
}
