//===- DeviceWatch.h - GPUs that make no progress ---------------*- C++ -*-===//
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

/// Of ranks that are threads of one process: whether they and their GPUs get
/// on. Who waits for a GPU asks again and again; nobody else does, so that it
/// takes no thread of its own. (Of processes, their network asks.)
class DeviceWatch {
public:
  /// Nothing of a rank or of its GPU moves for `stallSeconds`: a fault. After
  /// one it is given up after `timeoutSeconds`, if that is less.
  DeviceWatch(const engine::Group &group, engine::Fault &fault,
              double stallSeconds, double timeoutSeconds)
      : group(group), fault(fault), stallSeconds(stallSeconds),
        timeoutSeconds(timeoutSeconds) {}

  void add(CudaRank &rank, LocalTransport &transport) {
    ranks.push_back({&rank, &transport});
  }
  /// From here on time counts.
  void beginStep();
  /// Raises the fault, once. True where there is no use in waiting any more:
  /// what was issued may never end.
  bool hasStalled();
  bool isStuck() const { return stuck.load(std::memory_order_acquire); }
  /// How long who waits may sleep before it asks again.
  int64_t sleepMilliseconds() const;

private:
  struct Watched {
    CudaRank *rank;
    LocalTransport *transport;
  };
  uint64_t place() const;
  std::string describe();

  const engine::Group &group;
  engine::Fault &fault;
  const double stallSeconds, timeoutSeconds;
  std::vector<Watched> ranks;
  std::mutex mutex;
  uint64_t lastPlace = 0; ///< What `place` was, and since when.
  int64_t since = 0;
  bool hasSeenFault = false;
  std::atomic<bool> stuck{false};
};

/// Whether some GPU of this process was given up with work that may never end.
/// The process should end without giving back anything of any GPU: that could
/// wait for it.
bool hasAbandonedWork();
/// Says so.
void abandonWork();

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEWATCH_H
