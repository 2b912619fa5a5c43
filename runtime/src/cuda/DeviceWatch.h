//===- DeviceWatch.h - detection of GPUs without progress -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DEVICEWATCH_H
#define VEELINE_RUNTIME_CUDA_DEVICEWATCH_H

#include "Channel.h"
#include "Fault.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace veeline::cuda {

class CudaRank;
class LocalTransport;

/// Detects that ranks that are threads of one process, or their GPUs, make no
/// progress. Threads that wait for a GPU poll it, so it needs no thread of its
/// own. (If ranks are processes, their network does this.)
class DeviceWatch {
public:
  /// If no rank or GPU makes progress for `stallSeconds`, that is a fault.
  /// After a fault, work is given up after the same time, or after
  /// `timeoutSeconds` if that is less.
  DeviceWatch(const engine::Group &group, engine::Fault &fault,
              double stallSeconds, double timeoutSeconds)
      : group(group), fault(fault), stallSeconds(stallSeconds),
        timeoutSeconds(timeoutSeconds) {}

  void add(CudaRank &rank, LocalTransport &transport) {
    ranks.push_back({&rank, &transport});
  }
  /// Begins a step. Time without progress counts from here.
  void beginStep();
  /// Polls for progress, and raises the fault of a stall once. Returns true if
  /// waiting is useless because issued work may never end.
  bool hasStalled();
  bool isStuck() const { return stuck.load(std::memory_order_acquire); }
  /// The time that a waiting thread may sleep between two polls.
  int64_t sleepMilliseconds() const;

private:
  struct Watched {
    CudaRank *rank;
    LocalTransport *transport;
  };
  uint64_t place() const;
  void raiseStall();

  const engine::Group &group;
  engine::Fault &fault;
  const double stallSeconds, timeoutSeconds;
  std::vector<Watched> ranks;
  std::mutex mutex;
  /// The last result of place(), and since when it has been the same.
  uint64_t lastPlace = 0;
  int64_t since = 0;
  bool hasSeenFault = false;
  std::atomic<bool> stuck{false};
};

/// Whether work on a GPU of this process was given up that may never end. The
/// process should then end without freeing anything on any GPU, because that
/// could wait for the work.
bool hasAbandonedWork();
/// Makes hasAbandonedWork() return true from now on.
void abandonWork();

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEWATCH_H
