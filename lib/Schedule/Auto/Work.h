//===- Work.h - a reproducible budget of work -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_WORK_H
#define VEELINE_LIB_SCHEDULE_AUTO_WORK_H

#include "veeline/Base/Clock.h"

#include <chrono>
#include <cstdint>

namespace veeline::schedule {

/// Counts evaluated operations, so that a seed gives the same schedule
/// everywhere. Clocks end the work only if a machine is too slow for the
/// budget. The limit for processor time is twice the budget. For machines that
/// are busy with other work, the limit for wall-clock time is ten times the
/// budget plus `longestWait`, during which a short search may wait for a core.
class Work {
public:
  /// The work of a slow core in a second.
  static constexpr double unitsPerSecond = 55e6;

  /// In seconds.
  static constexpr double longestWait = 0.2;

  explicit Work(double seconds)
      : left(static_cast<std::int64_t>(seconds * unitsPerSecond)),
        processorEnd(processorNanoseconds() +
                     static_cast<std::int64_t>(2e9 * seconds)),
        wallEnd(
            std::chrono::steady_clock::now() +
            std::chrono::duration_cast<std::chrono::nanoseconds>(
                std::chrono::duration<double>(10 * seconds + longestWait))) {}

  void spend(std::int64_t units) { left -= units; }
  std::int64_t remaining() const { return left > 0 ? left : 0; }
  bool isSpent() {
    if (left > 0 && (processorNanoseconds() >= processorEnd ||
                     std::chrono::steady_clock::now() >= wallEnd))
      left = 0;
    return left <= 0;
  }

private:
  std::int64_t left;
  /// Nanoseconds of processor time of this thread.
  std::int64_t processorEnd;
  std::chrono::steady_clock::time_point wallEnd;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_WORK_H
