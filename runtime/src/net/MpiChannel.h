//===- MpiChannel.h - messages by MPI ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_MPICHANNEL_H
#define VEELINE_RUNTIME_NET_MPICHANNEL_H

#include "Arena.h"
#include "Bells.h"
#include "Channel.h"
#include "MpiLibrary.h"

#include <deque>

namespace veeline::net {

/// Either end of a channel. MPI makes progress only in calls of the rank's own
/// thread, which sleeps between polls while it waits. A rank that sends a
/// message, or sees that one has arrived, rings for the other end.
///
/// The tag is the channel's index, which implies the edge and the direction.
/// Messages, and the parts of a message, arrive in the order in which they were
/// sent. A part of another size than the rank expects ends the run. If messages
/// are checked, the identity of each part is sent ahead of it.
class MpiChannel final : public engine::Channel {
public:
  /// The end of rank `self`.
  MpiChannel(const MpiLibrary &mpi, Bells &bells, int32_t self,
             const engine::Group &group, int32_t index,
             const artifact::Channel &description)
      : mpi(mpi), bells(bells),
        peer(bells.of(description.fromRank == self ? description.toRank
                                                   : description.fromRank)),
        index(index), description(description),
        identities(group.checksMessages()
                       ? static_cast<size_t>(description.messagesPerStep) *
                             static_cast<size_t>(description.parts)
                       : 0) {}
  ~MpiChannel() override;

  void post(veeline_rank &rank, void *slot) override;
  void wait(veeline_rank &rank) override;
  void *acquire(veeline_rank &rank) override;
  void commit(veeline_rank &rank) override;
  void flush(veeline_rank &rank) override;
  void progress(veeline_rank &rank) override;
  void abort() override { isAborted.store(true, std::memory_order_release); }
  bool isIdle(const veeline_rank &) const override {
    return posted.empty() && acquired.empty();
  }

private:
  struct Sending {
    void *request;
    char *place; ///< Free once this is sent; null: more parts follow.
  };
  struct Receiving {
    void *request; ///< Null: it has arrived.
    char *place;
    int64_t bytes = 0; ///< The size that has arrived.
  };

  bool await(veeline_rank &rank, void *request);
  bool hasCome(veeline_rank &rank, Receiving &message);
  void ring();
  bool isDone(veeline_rank &rank, void *request, int64_t *bytes = nullptr);
  void reclaimPlaces(veeline_rank &rank);
  void finishOldest(veeline_rank &rank);
  bool waitForOldest(veeline_rank &rank, int64_t &bytes);
  bool waitForIdentity(veeline_rank &rank, uint32_t number, int32_t part);
  bool waitForPart(veeline_rank &rank, uint32_t number, int32_t part);
  void addPlace(veeline_rank &rank);
  void release(Sending message);
  void start(veeline_rank &rank, const char *data, int64_t bytes, char *place);
  void expect(veeline_rank &rank, char *place, int64_t bytes);
  engine::Identity &identityAt(uint32_t number, int32_t part);
  size_t bytesAhead() const;

  const MpiLibrary &mpi;
  Bells &bells;
  Bell *const peer; ///< Null: not found, as on another host.
  const int32_t index;
  const artifact::Channel &description;
  std::atomic<bool> isAborted{false};
  std::deque<Receiving> posted; ///< The oldest first.
  std::vector<engine::Identity>
      identities; ///< For all parts; empty: not checked.
  uint32_t numPosted = 0, numWaited = 0;
  std::deque<char *> acquired;
  engine::PartCounter committed;
  std::deque<Sending> sending;
  /// The memory of the places.
  std::vector<std::unique_ptr<engine::Arena>> memory;
  size_t numPlaces = 0;
  std::vector<char *> freePlaces;
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_MPICHANNEL_H
