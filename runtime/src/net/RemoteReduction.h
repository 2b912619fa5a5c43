//===- RemoteReduction.h - sums of gradients over processes -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of d members sums its share of the elements: it receives the
// contributions of the others to that share, adds them in the order of
// replicas, and sends the sum to all. So every member sends and receives 2
// (d-1)/d of the bytes, and the order of additions does not depend on timing.
// Scattered sums stay where they are. If the piece is gathered, each member
// only sends its shard to all.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_REMOTEREDUCTION_H
#define VEELINE_RUNTIME_NET_REMOTEREDUCTION_H

#include "Bells.h"
#include "MpiLibrary.h"
#include "Reduction.h"

#include <functional>
#include <list>

namespace veeline::net {

/// What members send to each other.
enum class Part : uint32_t { contribution, sum };

/// The place of a piece, and the members that sum it.
struct JoinedPiece {
  engine::Group &group;
  int32_t index; ///< The number of the reduction in the rank's table.
  const artifact::ReducedPiece &description;
  std::vector<int32_t> members; ///< Ranks, in the order of the sum.
  int32_t self;                 ///< The index of this process among them.
  char *arena;
};

/// The common part of all transports: what follows each transfer. Peers are
/// indices of members.
class RemoteReduction : public engine::Reduction {
public:
  explicit RemoteReduction(JoinedPiece piece) : piece(std::move(piece)) {}

protected:
  /// Begin to receive `bytes` from a peer into `place`, or to send them from
  /// it. They never block. The transport calls `received` or `sent` when the
  /// transfer is done.
  virtual void receive(Part part, int32_t peer, char *place, int64_t bytes) = 0;
  virtual void send(Part part, int32_t peer, char *place, int64_t bytes) = 0;
  /// Called when the accumulators hold the sums and no transfer is under way.
  virtual void finish() = 0;

  void begin();
  void received(Part part, int32_t peer);
  void sent(Part part, int32_t peer);

  const JoinedPiece piece;

private:
  bool scatters() const { return piece.description.scatters; }
  int64_t bytesOf(int32_t member) const;
  char *accumulatorsOf(int32_t member) const;
  char *bufferOf(int32_t peer) const;
  template <typename Function> void forEachPeer(Function function);
  void exchangeShares();
  void addShare();
  void addIfReady();
  void finishOne();

  /// Contributions that have not come yet and, where sums are scattered, those
  /// that have not left: shares may overlap.
  int32_t contributionsMissing = 0;
  int32_t left = 0; ///< Transfers that have not ended.
};

/// A reduction by TCP. All of it happens on the network's thread, to which
/// `post` defers it. `sendFrame` and `sendCredit` use the connection to a rank.
class TcpReduction final : public RemoteReduction {
public:
  struct Wire {
    std::function<void(std::function<void()>)> defer;
    std::function<void(Part, int32_t rank)> sendCredit;
    std::function<void(Part, int32_t rank, char *place, int64_t bytes,
                       std::function<void()> written)>
        sendFrame;
  };
  TcpReduction(JoinedPiece piece, Wire wire);

  void post(veeline_rank &rank) override;
  void wait(veeline_rank &rank) override;
  void abort() override;

  /// Called by the network's thread, about a rank. Returns false if it is not a
  /// member.
  bool credit(Part part, int32_t rank);
  /// Returns the place of `bytes` that have arrived; null if they were not
  /// expected.
  char *placeOf(Part part, int32_t rank, uint64_t bytes);
  void arrive(Part part, int32_t rank);

private:
  /// What is expected from a peer, and what waits for its credit.
  struct Peer {
    char *place = nullptr, *pending = nullptr;
    int64_t bytes = 0, pendingBytes = 0;
    int32_t credits = 0;
  };
  Peer *find(Part part, int32_t rank);
  int32_t memberOf(int32_t rank) const;
  void transmit(Part part, int32_t peer, char *place, int64_t bytes);
  void receive(Part part, int32_t peer, char *place, int64_t bytes) override;
  void send(Part part, int32_t peer, char *place, int64_t bytes) override;
  void finish() override;

  Wire wire;
  std::vector<Peer> peers[2]; ///< By part.
  WaitWord finished;          ///< Steps, times two; bit 0 is a fault.
};

/// A reduction by MPI. All of it happens on the rank's thread, in calls of
/// `post` and `progress`. A rank that sends a part, or sees that one has
/// arrived, rings for the other end. Messages have the tags `firstTag` and the
/// next one.
class MpiReduction final : public RemoteReduction {
public:
  MpiReduction(JoinedPiece piece, const MpiLibrary &mpi, Bells &bells,
               int32_t firstTag)
      : RemoteReduction(std::move(piece)), mpi(mpi), bells(bells),
        firstTag(firstTag) {}

  void post(veeline_rank &rank) override;
  void wait(veeline_rank &rank) override;
  void progress(veeline_rank &rank) override;
  void abort() override { isAborted.store(true, std::memory_order_release); }

private:
  struct Transfer {
    void *request;
    Part part;
    int32_t peer;
    bool isSend;
  };
  void add(const char *error, Transfer transfer);
  void receive(Part part, int32_t peer, char *place, int64_t bytes) override;
  void send(Part part, int32_t peer, char *place, int64_t bytes) override;
  void finish() override { ++numFinished; }
  void ring(int32_t peer);
  int32_t tagOf(Part part) const {
    return firstTag + static_cast<int32_t>(part);
  }

  const MpiLibrary &mpi;
  Bells &bells;
  const int32_t firstTag;
  std::list<Transfer> transfers;
  std::string error; ///< The first one.
  std::atomic<bool> isAborted{false};
  uint32_t numFinished = 0;
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_REMOTEREDUCTION_H
