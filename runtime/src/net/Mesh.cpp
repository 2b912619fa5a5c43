//===- Mesh.cpp - connections among all processes -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mesh.h"

#include "BlockedSignals.h"
#include "Deadline.h"
#include "MpiChannel.h"
#include "TimeoutParts.h"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <linux/sockios.h>
#include <pthread.h>
#include <sys/ioctl.h>

using namespace veeline;
using namespace veeline::net;

/// How long the last frames of a process may take: this part of the timeout,
/// and at most the time below, which is enough on any network.
static constexpr double goodbye = 0.125;
static constexpr std::chrono::seconds goodbyeTime(2);

/// How long a process that ends waits for its peers to end, too.
static constexpr std::chrono::milliseconds hangUpTime(200);
/// How long it waits if the last frames are lost on the way repeatedly: this
/// part of the timeout, and at most the time below.
static constexpr double arrival = 0.25;
static constexpr std::chrono::seconds arrivalTime(10);

//===----------------------------------------------------------------------===//
// Lifetime
//===----------------------------------------------------------------------===//

Mesh::Mesh(const MeetingOptions &options, const MpiLibrary *mpi)
    : place(options.place), timeoutSeconds(options.timeoutSeconds),
      timeout(inSeconds(timeoutSeconds)),
      maxExchangeBytes(options.maxExchangeBytes), mpi(mpi),
      work(asio::make_work_guard(io)), timer(io),
      deadlock(options.place.numRanks),
      stall({part(timeout, silence), inSeconds(options.stallSeconds)}),
      inbox(static_cast<size_t>(options.place.numRanks)),
      hasEnded(static_cast<size_t>(options.place.numRanks)) {}

Expected<std::unique_ptr<Mesh>> Mesh::create(const MeetingOptions &options,
                                             const MpiLibrary *mpi) {
  std::unique_ptr<Mesh> mesh(new Mesh(options, mpi));
  VEELINE_TRY_VALUE(std::vector<asio::ip::tcp::socket> sockets,
                    meet(mesh->io, options));
  for (asio::ip::tcp::socket &socket : sockets)
    mesh->links.push_back(
        socket.is_open() ? std::make_unique<Link>(std::move(socket)) : nullptr);
  mesh->start();
  if (!mpi)
    return mesh;
  VEELINE_TRY_VALUE(auto descriptions, mesh->exchange(mesh->bells.describe()));
  mesh->bells.connect(mesh->rank(), descriptions);
  VEELINE_TRY(mesh->removeSharedMemoryName());
  return mesh;
}

Status Mesh::removeSharedMemoryName() {
  constexpr const char *yes = "uses the memory of all";
  VEELINE_TRY_VALUE(auto answers, exchange(sharedMemory.find() ? yes : ""));
  for (const std::string &answer : answers)
    if (answer != yes)
      return Status::success();
  sharedMemory.remove();
  return Status::success();
}

void Mesh::start() {
  for (int32_t peer = 0; peer < numRanks(); ++peer)
    if (Link *link = links[static_cast<size_t>(peer)].get()) {
      link->heard = Clock::now();
      asio::co_spawn(io, read(peer), asio::detached);
    }
  asio::co_spawn(io, keepAlive(), asio::detached);
  BlockedSignals blocked;
  thread = std::thread([this] {
    pthread_setname_np(pthread_self(), "veeline-net");
    io.run();
  });
}

/// Says goodbye or, after a failure that the others may not have heard of yet,
/// says what it was. Waits until that is written or cannot be written any more.
Mesh::~Mesh() {
  if (!thread.joinable())
    return;
  if (const char *known = knownFailure())
    announce(known);
  else
    tell(FrameKind::goodbye, "");
  {
    std::unique_lock<std::mutex> lock(mutex);
    isEnding = true;
  }
  flush();
  hangUp();
  io.stop();
  thread.join();
  // After a failure, MPI would wait for processes that do not exist any more.
  // It would also write what still arrives to memory that is already freed,
  // because receives are posted.
  if (!mpi || failure || hasAnnounced)
    return;
  Deadline deadline(timeoutSeconds, rank(), "end MPI");
  sharedMemory.restore();
  mpi->finalize();
}

/// Whether something is still to be written. Called on the network's thread.
bool Mesh::isWriting() const {
  for (const std::unique_ptr<Link> &link : links)
    if (link && !link->isClosed && !link->queue.empty())
      return true;
  return false;
}

/// Calls `function` on the network's thread and returns its result.
bool Mesh::ask(const std::function<bool()> &function) {
  std::promise<bool> promise;
  asio::post(io, [&] { promise.set_value(function()); });
  return promise.get_future().get();
}

/// Whether the peer's host has not yet acknowledged all that was written.
static bool isUnderWay(asio::ip::tcp::socket &socket) {
  int bytes = 0;
  return ::ioctl(socket.native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

/// Waits until the peers close their connections. Closing a connection with
/// unread data would reset it, and lose what has not arrived at the peer.
///
/// The wait for a peer that has received everything is short. After a failure
/// the wait for every peer is short, because it may never close. But mpirun
/// ends the other processes once one has failed. So with MPI, a process that
/// has failed itself gives the others time to report it.
void Mesh::hangUp() {
  ask([this] {
    asio::error_code ignored;
    for (const std::unique_ptr<Link> &link : links)
      if (link && !link->isClosed)
        link->socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    return true;
  });
  auto now = Clock::now();
  auto late = now + std::min<Duration>(arrivalTime, part(timeout, arrival));
  auto early = mpi && hasAnnounced && !knownFailure()
                   ? late
                   : now + std::min<Duration>(hangUpTime, timeout / looks);
  auto isAwaited = [&](const std::unique_ptr<Link> &link) {
    return link && !link->isClosed &&
           (Clock::now() < early || isUnderWay(link->socket));
  };
  while (Clock::now() < (knownFailure() ? early : late) && ask([&] {
           return std::any_of(links.begin(), links.end(), isAwaited);
         }))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Waits until everything is written. Closes connections that take too long.
void Mesh::flush() {
  auto until =
      Clock::now() + std::min<Duration>(goodbyeTime, part(timeout, goodbye));
  while (ask([this] { return isWriting(); })) {
    if (Clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    ask([this] {
      for (int32_t peer = 0; peer < numRanks(); ++peer)
        if (Link *link = links[static_cast<size_t>(peer)].get();
            link && !link->queue.empty())
          lose(peer, "does not take what is sent to it");
      return true;
    });
  }
}

void Mesh::progress() {
  if (!mpi)
    return;
  if (const char *error = mpi->progress())
    fail(std::string("MPI cannot go on: ") + error);
}

void Mesh::disconnect() {
  flush();
  std::promise<void> done;
  asio::post(io, [&] {
    senders.clear();
    receivers.clear();
    reductions.clear();
    done.set_value();
  });
  done.get_future().get();
  // After a fault, messages from and to arenas may still be under way.
  auto until =
      Clock::now() + std::min<Duration>(goodbyeTime, part(timeout, goodbye));
  while (ask([this] { return isUsingMemory(); })) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (Clock::now() >= until)
      ask([this] { return abandonMessages(), true; });
  }
}

/// Whether messages are being read or written in memory of the executor. Called
/// on the network's thread.
bool Mesh::isUsingMemory() const {
  return std::any_of(links.begin(), links.end(),
                     [](const std::unique_ptr<Link> &link) {
                       return link && (link->isReading || link->isWriting);
                     });
}

/// Closes connections with messages under way, which then end soon. Called on
/// the network's thread.
void Mesh::abandonMessages() {
  for (int32_t peer = 0; peer < numRanks(); ++peer) {
    Link *link = links[static_cast<size_t>(peer)].get();
    if (!link || !(link->isReading || link->isWriting))
      continue;
    lose(peer, "does not finish a message");
    // A peer that has failed is lost already, but its connection is still open.
    asio::error_code ignored;
    link->socket.close(ignored);
  }
}

void Mesh::watch(engine::Observed &rank) {
  std::optional<std::string> known;
  {
    std::lock_guard<std::mutex> lock(mutex);
    observed.push_back(&rank);
    known = failure;
  }
  if (known)
    rank.raise(*known);
}

void Mesh::unwatch(engine::Observed &rank) {
  std::lock_guard<std::mutex> lock(mutex);
  std::erase(observed, &rank);
}

/// Returns the rank of the program that is in a step, or else of the first
/// program; null if there is none. The caller holds the lock.
engine::Observed *Mesh::activeRank() const {
  for (engine::Observed *rank : observed)
    if (rank->pulse().state != engine::Pulse::elsewhere)
      return rank;
  return observed.empty() ? nullptr : observed.front();
}

/// Raises a fault on all watched ranks. The caller holds the lock.
void Mesh::raiseAll(const std::string &text) {
  for (engine::Observed *rank : observed)
    rank->raise(text);
}

void Mesh::setLastResort(std::function<void(const char *)> end) {
  std::lock_guard<std::mutex> lock(endMutex);
  lastResort = std::move(end);
}

/// Records the first failure and wakes all waiting threads.
void Mesh::fail(const std::string &text, bool isOfAll) {
  // The lock is held, so that `unwatch` returns after the last use.
  std::lock_guard<std::mutex> lock(mutex);
  if (failure)
    return;
  failure = text;
  isVerdict = isOfAll;
  failedAt = Clock::now();
  failureText.store(failure->c_str(), std::memory_order_release);
  changed.notify_all();
  raiseAll(text);
}

/// Tells the others of a failure. After a verdict, or if another rank has said
/// that it failed, this rank has not failed itself. Then it repeats the same
/// words, because others may hear of the failure here first.
void Mesh::announce(const std::string &text) {
  std::optional<std::string> verdict;
  {
    std::lock_guard<std::mutex> lock(mutex);
    hasAnnounced = true;
    if (isVerdict)
      verdict = failure;
  }
  tell(verdict ? FrameKind::verdict : FrameKind::failure,
       verdict ? *verdict : text);
}

void Mesh::tell(FrameKind kind, const std::string &text) {
  sendToAll(textFrame(kind, text.substr(0, maxTextBytes)));
}

/// Closes a connection that is not usable any more, which is a failure unless
/// this process ends.
void Mesh::lose(int32_t peer, const std::string &how) {
  Link &link = *links[static_cast<size_t>(peer)];
  if (link.isClosed)
    return;
  link.isClosed = true;
  asio::error_code ignored;
  link.socket.close(ignored);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (isEnding)
      return;
  }
  fail(nameOf(peer) + " " + how);
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

void Mesh::beginProgram(int32_t numChannels) {
  firstChannel = nextChannel;
  nextChannel += numChannels;
  // The ranks of a stage have the same pieces.
  firstReduction = reductions.empty() ? 0 : reductions.rbegin()->first + 1;
}

std::unique_ptr<engine::Channel>
Mesh::connect(engine::Group &group, int32_t index,
              const artifact::Channel &channel) {
  if (mpi)
    return std::make_unique<MpiChannel>(*mpi, bells, rank(), group, index,
                                        channel);
  Header header = {};
  header.channel = firstChannel + index;
  header.edge = channel.edge;
  header.direction = static_cast<uint32_t>(channel.kind);
  if (channel.toRank == rank()) {
    header.kind = FrameKind::credit;
    auto receiver = std::make_unique<RemoteReceiver>(
        group, index, channel, [this, header, peer = channel.fromRank] {
          Frame frame;
          frame.header = header;
          send(peer, std::move(frame));
        });
    receivers[header.channel] = receiver.get();
    return receiver;
  }
  header.kind = FrameKind::message;
  auto sender = std::make_unique<RemoteSender>(
      group, index, channel,
      [this, header, peer = channel.toRank](Outgoing message) {
        Frame frame;
        frame.header = header;
        frame.header.number = message.number;
        frame.header.bytes = static_cast<uint64_t>(message.identity.bytes);
        frame.header.edge = message.identity.edge;
        frame.header.direction = static_cast<uint32_t>(message.identity.kind);
        frame.header.microbatch = message.identity.microbatch;
        frame.header.part = message.identity.part;
        frame.data = message.data;
        if (message.place)
          frame.written = [sender = senders[frame.header.channel],
                           place = message.place] { sender->sent(place); };
        send(peer, std::move(frame));
      });
  senders[header.channel] = sender.get();
  return sender;
}

std::unique_ptr<engine::Reduction>
Mesh::join(engine::Group &group, int32_t index, int32_t number,
           const artifact::ReducedPiece &description,
           const std::vector<int32_t> &members, char *arena) {
  auto self = std::find(members.begin(), members.end(), rank());
  JoinedPiece piece{group,
                    index,
                    description,
                    members,
                    static_cast<int32_t>(self - members.begin()),
                    arena};
  // These tags follow those of channels; each piece has two.
  if (mpi)
    return std::make_unique<MpiReduction>(std::move(piece), *mpi, bells,
                                          group.indexOf(2 * number));
  Header header = {};
  header.channel = firstReduction + number;
  auto makeFrame = [header](FrameKind kind, Part part) {
    Frame frame;
    frame.header = header;
    frame.header.kind = kind;
    frame.header.direction = static_cast<uint32_t>(part);
    return frame;
  };
  // All of these run on the network's thread, except `defer`, which changes to
  // that thread.
  TcpReduction::Wire wire;
  wire.defer = [this](std::function<void()> function) {
    asio::post(io, std::move(function));
  };
  wire.sendCredit = [this, makeFrame](Part part, int32_t to) {
    enqueue(to, makeFrame(FrameKind::reductionCredit, part));
  };
  wire.sendFrame = [this, makeFrame](Part part, int32_t to, char *place,
                                     int64_t bytes,
                                     std::function<void()> written) {
    Frame frame = makeFrame(FrameKind::reductionPart, part);
    frame.header.bytes = static_cast<uint64_t>(bytes);
    frame.data = place;
    frame.written = std::move(written);
    enqueue(to, std::move(frame));
  };
  auto reduction =
      std::make_unique<TcpReduction>(std::move(piece), std::move(wire));
  reductions[header.channel] = reduction.get();
  return reduction;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

std::string Mesh::describeAwaited() const {
  return nameOf(rank()) + " waits for what " + nameOf(awaitedPeer) +
         " has to tell all";
}

/// Describes whom an exchange waits for. The caller holds the lock.
std::string Mesh::describeMissing() const {
  std::string own = describeAwaited();
  std::string text =
      failure ? *failure
              : nameOf(awaitedPeer) + " has ended its part of the run";
  return text.find(own) == std::string::npos ? text + "; " + own : text;
}

Expected<std::vector<std::string>> Mesh::collect(std::string mine) {
  std::vector<std::string> all(links.size());
  all[static_cast<size_t>(rank())] = std::move(mine);
  std::unique_lock<std::mutex> lock(mutex);
  for (size_t peer = 0; peer < links.size(); ++peer) {
    if (!links[peer])
      continue;
    awaitedPeer = static_cast<int32_t>(peer);
    changed.wait(lock, [&] {
      return failure || hasEnded[peer] || !inbox[peer].empty();
    });
    // What has arrived before a failure still counts.
    if (inbox[peer].empty())
      return Status::error(describeMissing());
    awaitedPeer = -1;
    ++numExchanged;
    all[peer] = std::move(inbox[peer].front());
    inbox[peer].pop_front();
  }
  return all;
}

Expected<std::vector<std::string>> Mesh::exchange(std::string mine) {
  sendToAll(textFrame(FrameKind::exchange, mine));
  return collect(std::move(mine));
}

Expected<std::vector<std::string>> Mesh::gather(std::string mine) {
  if (rank() == 0)
    return collect(std::move(mine));
  send(0, textFrame(FrameKind::exchange, std::move(mine)));
  return std::vector<std::string>();
}
