//===- Transport.h - the transport of a rank's messages ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_TRANSPORT_H
#define VEELINE_RUNTIME_CUDA_TRANSPORT_H

#include "Device.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace veeline::cuda {

class CudaRank;

/// Carries a rank's messages and sums of gradients, except lengths, which are
/// sent from host to host. Called by the thread that issues the rank's step. An
/// error becomes the rank's fault.
class Transport {
public:
  virtual ~Transport() = default;

  /// Called before a step is issued or replayed. The device may run it much
  /// later. `slot` is 0 or 1; the step before has the other one.
  virtual void beginStep(CudaRank &, size_t /*slot*/, bool /*isReplayed*/) {}
  /// Called before late work is issued to run alone.
  virtual void beginLate(CudaRank &) {}

  /// What is issued between these two calls is one unit.
  virtual void beginGroup(CudaRank &) {}
  virtual void endGroup(CudaRank &) {}
  /// Called when operation `op` of the rank begins in the compute stream. The
  /// number after the last operation stands for the end of the step.
  virtual void beginOp(CudaRank &, int32_t /*op*/) {}
  // In the functions below, the compute stream is the rank's current one.
  /// Lets the sender write `slot` once the compute stream gets here.
  virtual void post(CudaRank &rank, int32_t channel, void *slot) = 0;
  /// Makes the compute stream wait for the oldest message.
  virtual void wait(CudaRank &rank, int32_t channel) = 0;
  virtual void send(CudaRank &rank, int32_t channel, const void *value,
                    int64_t bytes) = 0;
  /// Makes the compute stream wait until everything that it sent on message
  /// stream `stream` has left, except values of the unit that is still open.
  virtual void settle(CudaRank &rank, int32_t stream) = 0;
  virtual void postSum(CudaRank &rank, int32_t reduction) = 0;
  virtual void waitForSum(CudaRank &rank, int32_t reduction) = 0;

  /// Issues copies to the host of what inspectStep needs, after the step.
  virtual void readBack(CudaRank &, size_t /*slot*/) {}
  /// Called after the device has run the whole step, except its late work.
  virtual void inspectStep(CudaRank &, size_t /*slot*/) {}
  /// Called after all of it has run, with the squares of the norms of the
  /// rank's gradients.
  virtual void inspectGradients(CudaRank &,
                                const std::vector<double> & /*squares*/) {}
  /// Called when the step in `slot`, which was captured, is the one that later
  /// steps replay.
  virtual void keepForGraph(size_t /*slot*/) {}

  /// Waits until `event` has happened. Returns false if `isEnough`, which is
  /// polled if it is set, returned true before that.
  virtual Expected<bool> await(CudaRank &rank, const Event &event,
                               const std::function<bool()> &isEnough) = 0;
  /// After a fault: waits until the device has done all work of the rank, or
  /// gives it up.
  virtual void drain(CudaRank &rank) = 0;

  /// Ends all waits, now and later. May be called from any thread.
  virtual void abort() = 0;
  /// Whether no message is under way, as is so between steps.
  virtual bool isIdle() const { return true; }
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_TRANSPORT_H
