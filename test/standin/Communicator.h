//===- Communicator.h - what stand-ins of NCCL share -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A communicator is memory that its members share, threads or processes: a file
// without a name, which the maker of the id keeps open. Each pair of members
// has a place for the message that is under way from one to the other. Nothing
// moves before both have said what they are about to do. So no send ends before
// its receive is posted, and nothing is left behind.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_COMMUNICATOR_H
#define VEELINE_TEST_STANDIN_COMMUNICATOR_H

#include "Collective.h"
#include "StandIn.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace veeline::standin {

/// One end of a message, as its rank has posted it.
struct Posted {
  std::atomic<uint64_t> number{0}; ///< Of the message, from 1.
  std::atomic<uint64_t> count{0};
  std::atomic<int32_t> type{0};
  std::atomic<uint64_t> checked{0}; ///< The last one that was compared.
};

/// How a direction is connected: by itself, or together with the way back.
enum class Connection : int32_t { none, alone, both };

/// From one member to another one.
struct Pair {
  static constexpr uint64_t ringBytes = 16 * 1024;
  Posted sent, received;
  std::atomic<int32_t> isSending{0}, isReceiving{0}; ///< From the first one on.
  /// How either end's first group connects this way, as a Connection.
  std::atomic<int32_t> sendsBy{0}, receivesBy{0};
  std::atomic<uint64_t> written{0}, read{0}; ///< Bytes since the start.
  char ring[ringBytes];
};

struct Member {
  std::atomic<int32_t> hasJoined{0};
  std::atomic<uint64_t> device{0}; ///< No two members may share one.
  CollectivePart part;
};

/// A send or a receive of a unit.
struct Transfer {
  bool isSend = false;
  char *place = nullptr; ///< That the stand-in may touch.
  uint64_t count = 0;
  int type = 0;
  int peer = 0;
};

/// The messages and collectives of a group on one communicator and stream.
struct Unit {
  cuda::api::Stream stream = nullptr;
  std::vector<Transfer> transfers;
  std::vector<Collective> collectives = {};
};

/// Of an element of NCCL's type.
uint64_t sizeOf(int type);

class Communicator {
public:
  Communicator(int rank, int numRanks, int device)
      : rank(rank), numRanks(numRanks), device(device) {}
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;
  ~Communicator();

  /// Maps what members share; false where `file` is not that.
  bool join(int file);
  /// Of all members: 0 until all have joined, then 1; -1 where two of them are
  /// on one device.
  int look() const;

  Pair &pair(int from, int to) const;
  CollectivePart &part(int member) const;
  /// Tells the peers that the unit's messages are about to be issued. True if
  /// the peers are about to issue their ends, or have done so.
  bool meet(const Unit &unit) const;

  /// Records how the way to or from `peer` is connected. False if the other end
  /// has recorded another connection.
  bool connect(int peer, bool isSend, Connection connection) const;

  /// True until ncclCommGetAsyncError has told the outcome of the last call.
  bool isBusy() const { return polls > 0 || hasThread; }

  /// From now on nothing moves, and ncclCommGetAsyncError returns `code`.
  void fail(int code, const std::string &text);
  std::string whatFailed() const;

  const int rank, numRanks, device;
  int polls = 0; ///< That are left until it tells the outcome of a call.
  bool hasConnected = false;
  bool isFinalized = false;
  std::vector<Unit> pending; ///< Of the last group: not in their streams yet.
  /// The last group still has a thread, which may use the communicator.
  bool hasThread = false;
  /// Peers to which, and from which, groups outside of captures had messages.
  std::set<int> sendsTo, receivesFrom;
  std::set<CollectiveKind> known; ///< Collectives of such groups.

  // For whoever runs the device.
  std::atomic<bool> isAborted{false};
  std::atomic<int> failure{0};
  std::atomic<int> numUnderWay{0}; ///< Units that its device runs.
  uint64_t numIssued = 0;          ///< Units, outside of captures.
  uint64_t numDone = 0;

private:
  void *memory = nullptr;
  size_t bytes = 0;
  mutable std::mutex mutex;
  std::string lastError;
};

/// Returns what carries out a unit. `ticket` is its number in its communicator;
/// 0 in a graph, where streams give the order.
Progress carryOut(std::shared_ptr<Communicator> communicator, Unit unit,
                  uint64_t ticket);

} // namespace veeline::standin

#endif // VEELINE_TEST_STANDIN_COMMUNICATOR_H
