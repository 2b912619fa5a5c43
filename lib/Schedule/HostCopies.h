//===- HostCopies.h - copies to the host's memory and back ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_HOSTCOPIES_H
#define VEELINE_LIB_SCHEDULE_HOSTCOPIES_H

#include "veeline/Schedule/Execution.h"

#include <vector>

namespace veeline::schedule {

/// Computes the times of a rank's offloads while its order is run. The time is
/// linear in the operations, after sorting.
class HostCopies {
public:
  /// Expects offloads that `verify` accepts.
  HostCopies(const Problem &problem, const Schedule &schedule,
             const OpIndex &index, int rank);

  /// Called when the rank has reached, at time `now`, the `size` operations
  /// from a step on. Returns the time when the copies that it waits for are
  /// over. To be called once for each step, in order.
  double begin(int step, int size, double now);
  /// Called when the operation has ended.
  void end(int step, double time);

  std::vector<OffloadTimes> takeTimes() { return std::move(times); }

private:
  struct Copies {
    int forward, leaves, returns, reader;
    double time;
  };
  std::vector<Copies> offloads;
  std::vector<OffloadTimes> times;
  /// The numbers of offloads in the order in which they leave, return and are
  /// read, and how many of each have done so.
  std::vector<int> byLeaving, byReturning, byReader;
  std::size_t left = 0, returned = 0, read = 0, sent = 0;
  double outFree = 0, backFree = 0;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_HOSTCOPIES_H
