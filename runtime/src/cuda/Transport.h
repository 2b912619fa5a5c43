//===- Transport.h - how a rank's messages travel --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_TRANSPORT_H
#define VEELINE_RUNTIME_CUDA_TRANSPORT_H

#include "Device.h"

#include <cstdint>
#include <vector>

namespace veeline::cuda {

class CudaRank;

/// A rank's end of all messages and sums of gradients, but for lengths, which
/// go from host to host. Called by whoever issues the rank's step; what fails
/// is the rank's fault.
class Transport {
public:
  virtual ~Transport() = default;

  /// Before a step is issued, or what was issued is replayed.
  virtual void beginStep(CudaRank &, bool /*isReplayed*/) {}

  /// What is between these is one unit.
  virtual void beginGroup(CudaRank &) {}
  virtual void endGroup(CudaRank &) {}
  /// The rank's operation `op` begins in its compute stream, or what comes
  /// after the last one.
  virtual void beginOp(CudaRank &, int32_t /*op*/) {}
  // The compute stream is the rank's current one.
  /// From here on in the compute stream, `slot` may be written.
  virtual void post(CudaRank &rank, int32_t channel, void *slot) = 0;
  /// The compute stream waits for the oldest message.
  virtual void wait(CudaRank &rank, int32_t channel) = 0;
  virtual void send(CudaRank &rank, int32_t channel, const void *value,
                    int64_t bytes) = 0;
  /// The compute stream waits until all that was sent of its own on `stream`,
  /// one of messages, has left, but for what is of the same unit.
  virtual void settle(CudaRank &rank, int32_t stream) = 0;
  virtual void postSum(CudaRank &rank, int32_t reduction) = 0;
  virtual void waitForSum(CudaRank &rank, int32_t reduction) = 0;

  /// Once the device has done all that the step has.
  virtual void inspectStep(CudaRank &) {}

  /// Waits until the device has done all that `streams` have; after a fault of
  /// the rank, until nothing of its own is under way.
  virtual Status finish(CudaRank &rank,
                        const std::vector<api::Stream> &streams) = 0;

  /// Wakes whoever waits, for good. From any thread.
  virtual void abort() = 0;
  /// Between steps.
  virtual bool isIdle() const { return true; }
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_TRANSPORT_H
