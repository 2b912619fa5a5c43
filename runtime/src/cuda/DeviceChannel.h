//===- DeviceChannel.h - messages between ranks of one GPU ------*- C++ -*-===//
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

/// One edge in one direction between ranks that are threads and share a GPU. A
/// message is a copy on the device. Threads synchronise by counters when they
/// issue a message, as in channels of the host. Streams synchronise by events.
class DeviceChannel {
public:
  DeviceChannel(engine::Group &group, int32_t index,
                const artifact::Channel &description);

  /// Creates the events.
  Status prepare(const Device &device);

  /// Lets the sender write `slot` once the receiver's compute stream gets here.
  void post(CudaRank &rank, void *slot);
  /// Makes the receiver's compute stream wait for the oldest message.
  void wait(CudaRank &rank);
  /// Sends `value`. Returns the event after which it may change, or null after
  /// a fault.
  const Event *send(CudaRank &rank, const void *value, int64_t bytes);

  /// Wakes both sides, after which no call blocks. May be called from any
  /// thread.
  void abort();
  bool isIdle() const;

private:
  engine::Group &group;
  const int32_t index;
  const uint32_t capacity;    ///< The number of messages of a step.
  const int32_t streamNumber; ///< The stream of the sender, which copies.
  std::vector<void *> slots;
  /// By message. Empty if messages are not checked.
  std::vector<engine::Identity> identities;
  /// The sender's value has been computed.
  Event computed;
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
