//===- MeshFrames.cpp - reading and writing frames ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mesh.h"

#include "TimeoutParts.h"

#include <algorithm>
#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

using namespace veeline;
using namespace veeline::net;
using artifact::ChannelKind;

/// A large message is read in parts, so that a slow sender counts as alive.
static constexpr size_t partBytes = 1 << 20;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Mesh::Frame Mesh::textFrame(FrameKind kind, std::string text) {
  Frame frame;
  frame.header.kind = kind;
  frame.header.bytes = text.size();
  frame.text = std::move(text);
  return frame;
}

void Mesh::sendToAll(const Frame &frame) {
  for (int32_t peer = 0; peer < numRanks(); ++peer)
    if (peer != rank())
      send(peer, frame);
}

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

/// Writes until the queue is empty.
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
    // The reading coroutine detects that the peer is lost, and may still learn
    // why.
    if (error)
      co_return;
    // This may queue further frames. This loop writes them, because the queue
    // is not empty yet.
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
  // Only a process that still waits for the peer misses it.
  link.isClosed = true;
  std::lock_guard<std::mutex> lock(mutex);
  hasEnded[static_cast<size_t>(peer)] = true;
  changed.notify_all();
  // Steps end with an exchange of all processes. So a step that can still end
  // does not need the peer, and one that needs it would wait forever.
  raiseAll(nameOf(peer) + " has ended its part of the run");
}

/// Returns false if nothing more is to be read.
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

/// Returns false if the credit is not for a channel or reduction that this
/// process sends to `peer`.
bool Mesh::takeCredit(int32_t peer, const Header &header) {
  ++numArrivals;
  // This process has given up in the meantime.
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

/// Reads into memory of the executor.
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
  // There is no receiver if this process has given up in the meantime.
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
  // The text grows as bytes arrive, so that a header alone does not allocate
  // memory.
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
