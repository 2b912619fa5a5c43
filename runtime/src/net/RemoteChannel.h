//===- RemoteChannel.h - messages between two processes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two ends of a channel whose ranks share no memory. Each post sends a
// credit. So a sender does not compute a message before its receive is posted,
// as with shared memory, and proofs for shared memory also apply here. The
// sender computes into its own buffer and sends from there; the receiver reads
// into the slot that was posted.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_REMOTECHANNEL_H
#define VEELINE_RUNTIME_NET_REMOTECHANNEL_H

#include "Channel.h"

#include <functional>
#include <memory>
#include <mutex>

namespace veeline::net {

/// A message, or a part of one, that is being sent.
struct Outgoing {
  uint32_t number = 0; ///< Counts the channel's messages.
  const char *data = nullptr;
  engine::Identity identity;
  char *place = nullptr; ///< Free once this is sent; null: more parts follow.
};

/// `send` passes a message to the network. The network calls `sent` when the
/// message's place is free again, and `credit` when the receiver has posted one
/// more. The first message of a step waits for its credit only when it is sent,
/// because the receiver may still be in the step before.
class RemoteSender final : public engine::Channel {
public:
  RemoteSender(engine::Group &group, int32_t index,
               const artifact::Channel &description,
               std::function<void(Outgoing)> send)
      : group(group), index(index), description(description),
        send(std::move(send)) {}

  void post(veeline_rank &rank, void *slot) override;
  void wait(veeline_rank &rank) override;
  void *acquire(veeline_rank &rank) override;
  void commit(veeline_rank &rank) override;
  void abort() override;
  bool isIdle(const veeline_rank &) const override {
    return numAcquired == committed.messages && committed.part == 0;
  }

  /// Called by the network's thread.
  void credit();
  void sent(char *place);

  const artifact::Channel &channel() const { return description; }

private:
  bool waitForCredit(veeline_rank &rank, uint32_t number);
  char *takePlace();

  engine::Group &group;
  const int32_t index;
  const artifact::Channel &description;
  std::function<void(Outgoing)> send;
  WaitWord credits; ///< In steps of two; bit 0 is a fault.
  uint32_t numAcquired = 0;
  engine::PartCounter committed;
  std::vector<char *> acquired; ///< The uncommitted ones, oldest first.

  std::mutex mutex; ///< Guards the following members.
  std::vector<std::unique_ptr<char[]>> places;
  std::vector<char *> freePlaces;
};

/// `announce` tells the sender of one more post. The network calls `placeOf` to
/// find the place of a message or a part, and `arrive` when the data is there.
class RemoteReceiver final : public engine::Channel {
public:
  RemoteReceiver(engine::Group &group, int32_t index,
                 const artifact::Channel &description,
                 std::function<void()> announce)
      : group(group), index(index), description(description),
        slots(static_cast<size_t>(description.messagesPerStep)),
        identities(slots.size() * static_cast<size_t>(description.parts)),
        announce(std::move(announce)) {}

  void post(veeline_rank &rank, void *slot) override;
  void wait(veeline_rank &rank) override;
  void *acquire(veeline_rank &rank) override;
  void commit(veeline_rank &rank) override;
  void abort() override;
  bool isIdle(const veeline_rank &) const override {
    return numPosted.load() == numWaited;
  }

  /// Called by the network's thread. Returns null if this is not the next
  /// message or part, if it cannot have this size, or if nothing is posted for
  /// it.
  char *placeOf(uint32_t number, int32_t part, uint64_t bytes);
  void arrive(const engine::Identity &identity);

  const artifact::Channel &channel() const { return description; }

private:
  engine::Group &group;
  const int32_t index;
  const artifact::Channel &description;
  std::vector<void *> slots;
  /// For all parts that have arrived.
  std::vector<engine::Identity> identities;
  std::function<void()> announce;
  WaitWord arrived; ///< In steps of two; bit 0 is a fault.
  std::atomic<uint32_t> numPosted{0};
  uint32_t numWaited = 0;
  // The following members are used by the network's thread.
  engine::PartCounter numArrived;
  int64_t offset = 0; ///< The next part's place in its message.
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_REMOTECHANNEL_H
