//===- DeviceChannel.h - messages between ranks of one GPU -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DEVICECHANNEL_H
#define VEELINE_RUNTIME_CUDA_DEVICECHANNEL_H

#include "Channel.h"
#include "Device.h"

namespace veeline::cuda {

class CudaRank;

/// One edge in one direction between ranks that are threads and share a GPU: a
/// copy on the device. Threads synchronise when they issue a message, by
/// counters like those of the host's channels; streams synchronise by events.
class DeviceChannel {
public:
  DeviceChannel(engine::Group &group, int32_t index,
                const artifact::Channel &description);

  /// Makes the events.
  Status prepare(const Device &device);

  /// The sender may write `slot` once the receiver's compute stream gets here.
  void post(CudaRank &rank, void *slot);
  /// Has the receiver's compute stream wait for the oldest message.
  void wait(CudaRank &rank);
  /// Returns the event after which `value` may change; null after a fault.
  const Event *send(CudaRank &rank, const void *value, int64_t bytes);

  /// Wakes both sides for good. From any thread.
  void abort();
  bool isIdle() const;

private:
  engine::Group &group;
  const int32_t index;
  const uint32_t capacity;    ///< Messages of a step.
  const int32_t streamNumber; ///< Of the sender, who copies.
  std::vector<void *> slots;
  std::vector<engine::Identity> identities; ///< By message; empty: not checked.
  Event computed;                           ///< The sender's value is computed.
  std::vector<Event> free; ///< By message: its slot may be written.
  std::vector<Event> sent; ///< By message: it is in its slot.

  struct alignas(64) Receiver {
    WaitWord posted; ///< The sender sleeps on it.
    uint32_t numPosted = 0;
    uint32_t numWaited = 0;
  } receiver;
  struct alignas(64) Sender {
    WaitWord issued; ///< The receiver sleeps on it.
    uint32_t numIssued = 0;
  } sender;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICECHANNEL_H
