//===- Work.h - a budget that is the same on every machine ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_WORK_H
#define VEELINE_LIB_SCHEDULE_AUTO_WORK_H

#include <chrono>
#include <cstdint>

namespace veeline::schedule {

/// Counts operations looked at, so that a seed gives the same schedule
/// everywhere. The clock only cuts off where a machine is too slow for its
/// budget.
class Work {
public:
  /// What a slow core does in a second.
  static constexpr double unitsPerSecond = 60e6;

  explicit Work(double seconds)
      : left(static_cast<std::int64_t>(seconds * unitsPerSecond)),
        deadline(std::chrono::steady_clock::now() +
                 std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::duration<double>(seconds))) {}

  void spend(std::int64_t units) { left -= units; }
  std::int64_t remaining() const { return left > 0 ? left : 0; }
  bool isSpent() {
    if (left > 0 && std::chrono::steady_clock::now() >= deadline)
      left = 0;
    return left <= 0;
  }

private:
  std::int64_t left;
  std::chrono::steady_clock::time_point deadline;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_WORK_H
