//===- Mesh.h - connections among all processes -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_MESH_H
#define VEELINE_RUNTIME_NET_MESH_H

#include "Bells.h"
#include "Frame.h"
#include "MpiLibrary.h"
#include "Network.h"
#include "RemoteChannel.h"
#include "RemoteReduction.h"
#include "Rendezvous.h"
#include "Stall.h"

#include <asio/awaitable.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/steady_timer.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <thread>

namespace veeline::net {

/// TCP connections between all processes of a run, which a thread of its own
/// reads and writes. Each process repeatedly sends a sign of life, and says
/// what its rank waits for. A process that is silent has failed, and so has one
/// whose rank has stalled. After a failure, all processes end within the
/// timeout. Messages of channels also use TCP, or MPI.
class Mesh final : public engine::Network {
public:
  /// `mpi` is initialised, or null.
  static Expected<std::unique_ptr<Mesh>> create(const MeetingOptions &options,
                                                const MpiLibrary *mpi);
  ~Mesh() override;

  int32_t rank() const override { return place.rank; }
  int32_t numRanks() const override { return place.numRanks; }
  void beginProgram(int32_t numChannels) override;
  std::unique_ptr<engine::Channel>
  connect(engine::Group &group, int32_t index,
          const artifact::Channel &channel) override;
  std::unique_ptr<engine::Reduction>
  join(engine::Group &group, int32_t index, int32_t number,
       const artifact::ReducedPiece &description,
       const std::vector<int32_t> &members, char *arena) override;
  Expected<std::vector<std::string>> exchange(std::string mine) override;
  Expected<std::vector<std::string>> gather(std::string mine) override;
  void progress() override;
  void disconnect() override;
  void watch(engine::Observed &rank) override;
  void unwatch(engine::Observed &rank) override;
  void setLastResort(std::function<void(const char *)> end) override;
  const char *knownFailure() const override {
    return failureText.load(std::memory_order_acquire);
  }
  void announce(const std::string &failure) override;
  void noteMove() override { numNoted.fetch_add(1); }

private:
  using Clock = std::chrono::steady_clock;

  /// A frame to send. Its content is at `data`, or in `text` if that is null.
  struct Frame {
    Header header = {};
    std::string text;
    const char *data = nullptr;
    std::function<void()> written; ///< Called when it is written, if given.
  };
  struct Link {
    explicit Link(asio::ip::tcp::socket socket) : socket(std::move(socket)) {}
    asio::ip::tcp::socket socket;
    std::deque<Frame> queue; ///< The first one is being written.
    Clock::time_point heard;
    // Whether a message is being read or written in memory of the executor.
    bool isReading = false, isWriting = false;
    bool isClosed = false; ///< The peer has said goodbye or has failed.
  };

  Mesh(const MeetingOptions &options, const MpiLibrary *mpi);

  // The following functions run on the network's thread.
  void start();
  Status removeSharedMemoryName();
  asio::awaitable<void> read(int32_t peer);
  asio::awaitable<bool> readFrame(int32_t peer, const Header &header);
  asio::awaitable<bool> readBytes(Link &link, char *target, size_t bytes,
                                  bool isMove = true);
  asio::awaitable<bool> readInto(int32_t peer, char *target, uint64_t bytes);
  asio::awaitable<bool> readMessage(int32_t peer, const Header &header);
  asio::awaitable<bool> readPart(int32_t peer, const Header &header);
  bool takeCredit(int32_t peer, const Header &header);
  asio::awaitable<bool> readText(int32_t peer, const Header &header);
  asio::awaitable<void> write(int32_t peer);
  asio::awaitable<void> keepAlive();
  void beginAnew(Time now);
  void listen(Time now);
  void sayAlive(const engine::Pulse &pulse, const std::string &place);
  engine::Pulse ownPulse(std::string &place);
  void checkProgress(const engine::Pulse &pulse, const std::string &place,
                     Time now);
  void judge(const std::string &text);
  void endIfFailed(Time now);
  void enqueue(int32_t peer, Frame frame);
  void lose(int32_t peer, const std::string &how);
  bool isFromPeer(int32_t peer, const Header &header) const;

  bool ask(const std::function<bool()> &function);
  void hangUp();
  bool isWriting() const;
  bool isUsingMemory() const;
  void abandonMessages();

  static Frame textFrame(FrameKind kind, std::string text);
  void send(int32_t peer, Frame frame);
  void sendToAll(const Frame &frame);
  void flush();
  void fail(const std::string &text, bool isOfAll = false);
  void tell(FrameKind kind, const std::string &text);
  Expected<std::vector<std::string>> collect(std::string mine);
  engine::Observed *activeRank() const;
  void raiseAll(const std::string &text);
  std::string describeAwaited() const;
  std::string describeMissing() const;

  const Place place;
  const double timeoutSeconds;
  const Duration timeout;
  const uint64_t maxExchangeBytes;
  const MpiLibrary *const mpi;
  Bells bells; ///< For messages by MPI.
  SharedMemoryName sharedMemory;
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  asio::steady_timer timer;
  std::vector<std::unique_ptr<Link>> links; ///< Null for this rank.
  // The next numbers count over all programs. They are set before the first
  // step, and so before any message.
  int32_t firstChannel = 0, nextChannel = 0; ///< Of the last program.
  int32_t firstReduction = 0;
  std::map<int32_t, RemoteSender *> senders;
  std::map<int32_t, RemoteReceiver *> receivers;
  std::map<int32_t, TcpReduction *> reductions;
  // The following members are used by the network's thread.
  uint32_t numArrivals = 0; ///< Counts arrivals as moves.
  std::atomic<uint32_t> numNoted{0};
  Deadlock deadlock;
  Stall stall;
  std::thread thread;

  std::mutex mutex; ///< Guards the following members.
  std::condition_variable changed;
  std::vector<std::deque<std::string>> inbox; ///< For exchanges, by rank.
  /// Who has said goodbye, by rank.
  std::vector<bool> hasEnded;
  std::optional<std::string> failure; ///< The first one.
  bool isVerdict = false;             ///< All ranks get it in the same words.
  Time failedAt;
  std::vector<engine::Observed *> observed; ///< One for each program.
  int32_t awaitedPeer = -1; ///< The peer that an exchange waits for, or -1.
  uint32_t numExchanged = 0;
  bool isEnding = false;
  bool hasAnnounced = false; ///< A failure of its own or of others.
  /// The text of `failure`, or null.
  std::atomic<const char *> failureText{nullptr};

  std::mutex endMutex; ///< Held while the last resort runs.
  std::function<void(const char *)> lastResort;
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_MESH_H
