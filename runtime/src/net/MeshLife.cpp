//===- MeshLife.cpp - signs of life, and a run that has stalled -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mesh.h"

#include "TimeoutParts.h"

#include <asio/use_awaitable.hpp>
#include <cstdio>

using namespace veeline;
using namespace veeline::net;

asio::awaitable<void> Mesh::keepAlive() {
  for (;;) {
    timer.expires_after(timeout / looks);
    co_await timer.async_wait(asio::use_awaitable);
    Time now = Clock::now();
    if (now - timer.expiry() > part(timeout, lateness))
      beginAnew(now);
    listen(now);
    std::string place;
    engine::Pulse pulse = ownPulse(place);
    sayAlive(pulse, place);
    checkProgress(pulse, place, now);
    endIfFailed(now);
  }
}

/// Ignores earlier silence after this process was stopped and could not read.
void Mesh::beginAnew(Time now) {
  for (const std::unique_ptr<Link> &link : links)
    if (link)
      link->heard = now;
  deadlock.clear();
  stall.clear();
}

/// Loses peers that have been silent for too long.
void Mesh::listen(Time now) {
  for (int32_t peer = 0; peer < numRanks(); ++peer) {
    Link *link = links[static_cast<size_t>(peer)].get();
    if (!link || link->isClosed || now - link->heard <= part(timeout, silence))
      continue;
    char text[64];
    std::snprintf(text, sizeof(text), "has not answered for %g s",
                  timeoutSeconds * silence);
    lose(peer, text);
  }
}

void Mesh::sayAlive(const engine::Pulse &pulse, const std::string &place) {
  for (int32_t peer = 0; peer < numRanks(); ++peer) {
    Link *link = links[static_cast<size_t>(peer)].get();
    if (!link || !link->queue.empty())
      continue;
    Frame frame = textFrame(FrameKind::alive, place);
    frame.header.number = pulse.moves;
    enqueue(peer, std::move(frame));
  }
}

/// Sets `text` to what this process waits for, if it waits.
engine::Pulse Mesh::ownPulse(std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  engine::Observed *active = activeRank();
  engine::Pulse pulse = active ? active->pulse() : engine::Pulse{};
  for (const engine::Observed *other : observed)
    if (other != active)
      pulse.moves += other->pulse().moves;
  if (awaitedPeer >= 0 && pulse.state == engine::Pulse::elsewhere) {
    pulse.state = engine::Pulse::waiting;
    text = describeAwaited();
  } else if (pulse.state == engine::Pulse::waiting) {
    ShortText awaited;
    active->describePlace(awaited);
    text = awaited.view();
  }
  pulse.moves += numExchanged + numArrivals + numNoted.load();
  return pulse;
}

void Mesh::checkProgress(const engine::Pulse &pulse, const std::string &place,
                         Time now) {
  deadlock.hear(rank(), pulse.moves, place, now);
  if (knownFailure())
    return;
  if (std::optional<std::string> text =
          deadlock.find(part(timeout, standstill)))
    return judge(*text);
  std::optional<std::string> what = stall.look(pulse, now);
  if (!what)
    return;
  ShortText where;
  if (pulse.state == engine::Pulse::computing) {
    std::lock_guard<std::mutex> lock(mutex);
    where << "; ";
    if (const engine::Observed *active = activeRank())
      active->describePlace(where);
  }
  judge(nameOf(rank()) + " " + *what + std::string(where.view()));
}

/// Ends the run of all processes for a reason that this one has detected.
void Mesh::judge(const std::string &text) {
  fail(text, /*isOfAll=*/true);
  tell(FrameKind::verdict, text);
}

/// Calls the last resort if this process has not ended soon after a failure,
/// for example because its rank computes.
void Mesh::endIfFailed(Time now) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!failure || now - failedAt < timeout / looks)
      return;
  }
  std::lock_guard<std::mutex> lock(endMutex);
  if (lastResort)
    lastResort(knownFailure());
}
