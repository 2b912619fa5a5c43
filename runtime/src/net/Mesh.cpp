//===- Mesh.cpp - a connection from each process to each other ------------===//
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
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <linux/sockios.h>
#include <pthread.h>
#include <sys/ioctl.h>

using namespace veeline;
using namespace veeline::net;
using artifact::ChannelKind;

/// A large message is read in parts, so that a slow one counts as alive.
static constexpr size_t partBytes = 1 << 20;

/// How long the last frames of a process may take, but no longer than it takes
/// on any network.
static constexpr double goodbye = 0.125;
static constexpr std::chrono::seconds goodbyeTime(2);

/// How long a process that ends waits for its peers to end, too.
static constexpr std::chrono::milliseconds hangUpTime(200);
/// How long it waits where the last frames are lost on the way, again and
/// again.
static constexpr double arrival = 0.25;
static constexpr std::chrono::seconds arrivalTime(10);

static Duration inSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds));
}

//===----------------------------------------------------------------------===//
// Life
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
  Expected<std::vector<asio::ip::tcp::socket>> sockets =
      meet(mesh->io, options);
  if (!sockets.ok())
    return sockets.status();
  for (asio::ip::tcp::socket &socket : *sockets)
    mesh->links.push_back(
        socket.is_open() ? std::make_unique<Link>(std::move(socket)) : nullptr);
  mesh->start();
  if (!mpi)
    return mesh;
  auto descriptions = mesh->exchange(mesh->bells.describe());
  if (!descriptions.ok())
    return descriptions.status();
  mesh->bells.connect(mesh->rank(), *descriptions);
  if (Status status = mesh->removeSharedMemoryName(); !status.ok())
    return status;
  return mesh;
}

Status Mesh::removeSharedMemoryName() {
  constexpr const char *yes = "uses the memory of all";
  auto answers = exchange(sharedMemory.find() ? yes : "");
  if (!answers.ok())
    return answers.status();
  for (const std::string &answer : *answers)
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

/// Says goodbye or, after a failure that the others may not have seen yet, what
/// it was. Waits until that is written or cannot be any more.
Mesh::~Mesh() {
  if (!thread.joinable())
    return;
  if (const char *known = knownFailure())
    announce(known);
  else
    sayGoodbye();
  {
    std::unique_lock<std::mutex> lock(mutex);
    isEnding = true;
  }
  flush();
  hangUp();
  io.stop();
  thread.join();
  // After a failure MPI would wait for who is gone.
  if (!mpi || failure)
    return;
  Deadline deadline(timeoutSeconds, rank(), "end MPI");
  sharedMemory.restore();
  mpi->finalize();
}

void Mesh::sayGoodbye() {
  Frame goodbye;
  goodbye.header.kind = FrameKind::goodbye;
  for (int32_t peer = 0; peer < numRanks(); ++peer)
    if (peer != rank())
      send(peer, goodbye);
}

/// True where something is still to be written. Of the network's thread.
bool Mesh::isWriting() const {
  for (const std::unique_ptr<Link> &link : links)
    if (link && !link->isClosed && !link->queue.empty())
      return true;
  return false;
}

/// What `function` says on the network's thread.
bool Mesh::ask(const std::function<bool()> &function) {
  std::promise<bool> promise;
  asio::post(io, [&] { promise.set_value(function()); });
  return promise.get_future().get();
}

/// Whether the peer's host has not yet said that it has all that was written.
static bool isUnderWay(asio::ip::tcp::socket &socket) {
  int bytes = 0;
  return ::ioctl(socket.native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

/// To close a connection from which something is still to be read takes back
/// what has not arrived. So the peers close first, unless they take long and
/// have it all; after a failure they may never.
void Mesh::hangUp() {
  ask([this] {
    asio::error_code ignored;
    for (const std::unique_ptr<Link> &link : links)
      if (link && !link->isClosed)
        link->socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    return true;
  });
  auto now = Clock::now();
  auto early = now + std::min<Duration>(hangUpTime, timeout / looks);
  auto late = now + std::min<Duration>(arrivalTime, part(timeout, arrival));
  auto isAwaited = [&](const std::unique_ptr<Link> &link) {
    return link && !link->isClosed &&
           (Clock::now() < early || isUnderWay(link->socket));
  };
  while (Clock::now() < (knownFailure() ? early : late) && ask([&] {
           return std::any_of(links.begin(), links.end(), isAwaited);
         }))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Waits until everything is written, or closes what does not come to an end.
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
  // After a fault messages may still be under way, to and from arenas.
  auto until =
      Clock::now() + std::min<Duration>(goodbyeTime, part(timeout, goodbye));
  while (ask([this] { return isUsingMemory(); })) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (Clock::now() >= until)
      ask([this] { return abandonMessages(), true; });
  }
}

/// Of the network's thread.
bool Mesh::isUsingMemory() const {
  return std::any_of(links.begin(), links.end(),
                     [](const std::unique_ptr<Link> &link) {
                       return link && (link->isReading || link->isWriting);
                     });
}

/// What is under way ends soon after. Of the network's thread.
void Mesh::abandonMessages() {
  for (int32_t peer = 0; peer < numRanks(); ++peer) {
    Link *link = links[static_cast<size_t>(peer)].get();
    if (!link || !(link->isReading || link->isWriting))
      continue;
    lose(peer, "does not finish a message");
    // Who has failed is lost already, and its connection still open.
    asio::error_code ignored;
    link->socket.close(ignored);
  }
}

void Mesh::watch(engine::Observed *rank) {
  std::optional<std::string> known;
  {
    std::lock_guard<std::mutex> lock(mutex);
    observed = rank;
    known = failure;
  }
  if (rank && known)
    rank->raise(*known);
}

void Mesh::setLastResort(std::function<void(const char *)> end) {
  std::lock_guard<std::mutex> lock(endMutex);
  lastResort = std::move(end);
}

/// Records the first failure and wakes whoever waits.
void Mesh::fail(const std::string &text, bool isOfAll) {
  // Under the lock, so that `watch(nullptr)` returns after the last use.
  std::lock_guard<std::mutex> lock(mutex);
  if (failure)
    return;
  failure = text;
  isVerdict = isOfAll;
  failedAt = Clock::now();
  failureText.store(failure->c_str(), std::memory_order_release);
  changed.notify_all();
  if (observed)
    observed->raise(text);
}

/// After a verdict, and where another rank has said that it failed, this rank
/// has not: the others may hear of it here first, in the same words.
void Mesh::announce(const std::string &text) {
  std::optional<std::string> verdict;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (isVerdict)
      verdict = failure;
  }
  tell(verdict ? FrameKind::verdict : FrameKind::failure,
       verdict ? *verdict : text);
}

void Mesh::tell(FrameKind kind, const std::string &text) {
  for (int32_t peer = 0; peer < numRanks(); ++peer) {
    if (peer == rank())
      continue;
    Frame frame;
    frame.header.kind = kind;
    frame.text = text.substr(0, maxTextBytes);
    frame.header.bytes = frame.text.size();
    send(peer, std::move(frame));
  }
}

/// A connection is of no use any more.
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
// Writing
//===----------------------------------------------------------------------===//

void Mesh::send(int32_t peer, Frame frame) {
  asio::post(io, [this, peer, frame = std::move(frame)]() mutable {
    enqueue(peer, std::move(frame));
  });
}

void Mesh::enqueue(int32_t peer, Frame frame) {
  Link &link = *links[static_cast<size_t>(peer)];
  if (link.isClosed)
    return;
  link.queue.push_back(std::move(frame));
  if (link.queue.size() == 1)
    asio::co_spawn(io, write(peer), asio::detached);
}

/// Writes until nothing is left.
asio::awaitable<void> Mesh::write(int32_t peer) {
  Link &link = *links[static_cast<size_t>(peer)];
  while (!link.queue.empty() && !link.isClosed) {
    const Frame &frame = link.queue.front();
    const char *data = frame.data ? frame.data : frame.text.data();
    std::array<asio::const_buffer, 2> buffers = {
        asio::buffer(&frame.header, sizeof(Header)),
        asio::buffer(data, static_cast<size_t>(frame.header.bytes))};
    asio::error_code error;
    link.isWriting = frame.data != nullptr;
    co_await asio::async_write(
        link.socket, buffers, asio::redirect_error(asio::use_awaitable, error));
    link.isWriting = false;
    // What is lost is found out by reading, which may still see why.
    if (error)
      co_return;
    // May queue further frames, which this loop writes as long as there is one.
    if (frame.written)
      frame.written();
    link.queue.pop_front();
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

asio::awaitable<bool> Mesh::readBytes(Link &link, char *target, size_t bytes,
                                      bool isMove) {
  for (size_t done = 0; done < bytes;) {
    asio::error_code error;
    size_t part = std::min(partBytes, bytes - done);
    done += co_await asio::async_read(
        link.socket, asio::buffer(target + done, part),
        asio::redirect_error(asio::use_awaitable, error));
    if (error)
      co_return false;
    link.heard = Clock::now();
    numArrivals += isMove;
  }
  co_return true;
}

asio::awaitable<void> Mesh::read(int32_t peer) {
  Link &link = *links[static_cast<size_t>(peer)];
  Header header;
  while (co_await readBytes(link, reinterpret_cast<char *>(&header),
                            sizeof(header), /*isMove=*/false)) {
    if (header.kind == FrameKind::goodbye)
      break;
    if (!co_await readFrame(peer, header))
      co_return;
  }
  if (header.kind != FrameKind::goodbye)
    co_return lose(peer, "is gone: its connection is closed");
  // Missed only by who still waits for what it has to give.
  link.isClosed = true;
  std::lock_guard<std::mutex> lock(mutex);
  hasEnded[static_cast<size_t>(peer)] = true;
  changed.notify_all();
  // Steps end with an exchange of all, so none that can end needs the peer; one
  // that waits for it would wait for ever.
  if (observed)
    observed->raise(nameOf(peer) + " has ended its part of the run");
}

/// False where nothing more is to be read.
asio::awaitable<bool> Mesh::readFrame(int32_t peer, const Header &header) {
  switch (header.kind) {
  case FrameKind::credit:
  case FrameKind::reductionCredit:
    if (takeCredit(peer, header))
      co_return true;
    break;
  case FrameKind::reductionPart:
    co_return co_await readPart(peer, header);
  case FrameKind::message:
    co_return co_await readMessage(peer, header);
  case FrameKind::exchange:
  case FrameKind::failure:
  case FrameKind::verdict:
  case FrameKind::alive:
    co_return co_await readText(peer, header);
  case FrameKind::goodbye:
    break;
  }
  lose(peer, "sent what is no frame of this run");
  co_return false;
}

/// False where it is not about what this process sends to `peer`.
bool Mesh::takeCredit(int32_t peer, const Header &header) {
  ++numArrivals;
  // This process has given up meanwhile.
  if (senders.empty() && reductions.empty())
    return true;
  if (header.kind == FrameKind::reductionCredit) {
    auto it = reductions.find(header.channel);
    return it != reductions.end() &&
           it->second->credit(static_cast<Part>(header.direction), peer);
  }
  auto it = senders.find(header.channel);
  if (it == senders.end() || it->second->channel().toRank != peer)
    return false;
  it->second->credit();
  return true;
}

asio::awaitable<bool> Mesh::readPart(int32_t peer, const Header &header) {
  auto part = static_cast<Part>(header.direction);
  auto it = reductions.find(header.channel);
  char *target = it == reductions.end()
                     ? nullptr
                     : it->second->placeOf(part, peer, header.bytes);
  if (!target) {
    lose(peer, "sent a part of reduction " + std::to_string(header.channel) +
                   " (" + std::to_string(header.bytes) +
                   " bytes), which is not expected");
    co_return false;
  }
  if (!co_await readInto(peer, target, header.bytes))
    co_return false;
  it = reductions.find(header.channel);
  if (it != reductions.end())
    it->second->arrive(part, peer);
  co_return true;
}

bool Mesh::isFromPeer(int32_t peer, const Header &header) const {
  auto it = receivers.find(header.channel);
  if (it == receivers.end())
    return false;
  const artifact::Channel &channel = it->second->channel();
  return channel.fromRank == peer && channel.edge == header.edge &&
         static_cast<uint32_t>(channel.kind) == header.direction;
}

/// Into memory of the executor's.
asio::awaitable<bool> Mesh::readInto(int32_t peer, char *target,
                                     uint64_t bytes) {
  Link &link = *links[static_cast<size_t>(peer)];
  link.isReading = true;
  bool isThere = co_await readBytes(link, target, static_cast<size_t>(bytes));
  link.isReading = false;
  if (!isThere)
    lose(peer, "is gone: its connection is closed");
  co_return isThere;
}

asio::awaitable<bool> Mesh::readMessage(int32_t peer, const Header &header) {
  char *target = nullptr;
  if (isFromPeer(peer, header))
    target = receivers[header.channel]->placeOf(header.number, header.part,
                                                header.bytes);
  if (!target) {
    lose(peer, "sent message " + std::to_string(header.number) +
                   " of channel " + std::to_string(header.channel) + " (edge " +
                   std::to_string(header.edge) +
                   (header.part == engine::wholeMessage
                        ? ""
                        : ", part " + std::to_string(header.part)) +
                   ", " + std::to_string(header.bytes) +
                   " bytes), which is not the one that is expected");
    co_return false;
  }
  if (!co_await readInto(peer, target, header.bytes))
    co_return false;
  // Not where this process has given up meanwhile.
  if (auto it = receivers.find(header.channel); it != receivers.end())
    it->second->arrive({static_cast<ChannelKind>(header.direction), header.edge,
                        header.microbatch, header.part,
                        static_cast<int64_t>(header.bytes)});
  co_return true;
}

asio::awaitable<bool> Mesh::readText(int32_t peer, const Header &header) {
  Link &link = *links[static_cast<size_t>(peer)];
  std::string text;
  bool isExchange = header.kind == FrameKind::exchange;
  if (header.bytes > (isExchange ? maxExchangeBytes : maxTextBytes)) {
    lose(peer, "sent " + std::to_string(header.bytes) +
                   " bytes, which is more than it has to say");
    co_return false;
  }
  // Grows as they come: a number alone takes no memory.
  while (text.size() < header.bytes) {
    size_t done = text.size();
    text.resize(std::min<size_t>(done + partBytes, header.bytes));
    if (!co_await readBytes(link, text.data() + done, text.size() - done,
                            isExchange)) {
      lose(peer, "is gone: its connection is closed");
      co_return false;
    }
  }
  if (header.kind == FrameKind::alive) {
    deadlock.hear(peer, header.number, std::move(text), Clock::now());
    co_return true;
  }
  if (!isExchange) {
    link.isClosed = true;
    bool isOfAll = header.kind == FrameKind::verdict;
    fail(isOfAll ? text : nameOf(peer) + " has failed: " + text,
         /*isOfAll=*/true);
    co_return false;
  }
  std::lock_guard<std::mutex> lock(mutex);
  inbox[static_cast<size_t>(peer)].push_back(std::move(text));
  changed.notify_all();
  co_return true;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

std::unique_ptr<engine::Channel>
Mesh::connect(engine::Group &group, int32_t index,
              const artifact::Channel &channel) {
  if (mpi)
    return std::make_unique<MpiChannel>(*mpi, bells, rank(), group, index,
                                        channel);
  Header header = {};
  header.channel = index;
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
    receivers[index] = receiver.get();
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
  senders[index] = sender.get();
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
  // After the tags of channels, two for each piece.
  if (mpi)
    return std::make_unique<MpiReduction>(std::move(piece), *mpi, bells,
                                          group.indexOf(2 * number));
  Header header = {};
  header.channel = number;
  auto makeFrame = [header](FrameKind kind, Part part) {
    Frame frame;
    frame.header = header;
    frame.header.kind = kind;
    frame.header.direction = static_cast<uint32_t>(part);
    return frame;
  };
  // All of these run on the network's thread but `defer`, which leads there.
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
  reductions[number] = reduction.get();
  return reduction;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

std::string Mesh::describeAwaited() const {
  return nameOf(rank()) + " waits for what " + nameOf(awaitedPeer) +
         " has to tell all";
}

/// With the lock.
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
    // What has come before a failure still counts.
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
  for (int32_t peer = 0; peer < numRanks(); ++peer) {
    if (peer == rank())
      continue;
    Frame frame;
    frame.header.kind = FrameKind::exchange;
    frame.header.bytes = mine.size();
    frame.text = mine;
    send(peer, std::move(frame));
  }
  return collect(std::move(mine));
}

Expected<std::vector<std::string>> Mesh::gather(std::string mine) {
  if (rank() == 0)
    return collect(std::move(mine));
  Frame frame;
  frame.header.kind = FrameKind::exchange;
  frame.header.bytes = mine.size();
  frame.text = std::move(mine);
  send(0, std::move(frame));
  return std::vector<std::string>();
}
