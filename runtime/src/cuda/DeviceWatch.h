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

/// Detects when ranks that are threads of one process, or their GPUs, make no
/// progress. Threads that wait for a GPU poll it, so it needs no thread of its
/// own. (If ranks are processes, their network does this.)
class DeviceWatch {
public:
  /// No progress of any rank or GPU for `stallSeconds` is a fault. After a
  /// fault work is given up after as long, or `timeoutSeconds` if that is less.
  DeviceWatch(const engine::Group &group, engine::Fault &fault,
              double stallSeconds, double timeoutSeconds)
      : group(group), fault(fault), stallSeconds(stallSeconds),
        timeoutSeconds(timeoutSeconds) {}

  void add(CudaRank &rank, LocalTransport &transport) {
    ranks.push_back({&rank, &transport});
  }
  /// A step begins: time without progress counts from here.
  void beginStep();
  /// Polls for progress, and raises the fault of a stall once. True if waiting
  /// is useless, as what was issued may never end.
  bool hasStalled();
  bool isStuck() const { return stuck.load(std::memory_order_acquire); }
  /// How long a waiting thread may sleep between two polls.
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
  uint64_t lastPlace = 0; ///< The last result of place(), and since when.
  int64_t since = 0;
  bool hasSeenFault = false;
  std::atomic<bool> stuck{false};
};

/// Whether work on a GPU of this process was given up that may never end. The
/// process should then end without freeing anything on any GPU, which could
/// wait for that work.
bool hasAbandonedWork();
/// From here on hasAbandonedWork() is true.
void abandonWork();

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEWATCH_H
