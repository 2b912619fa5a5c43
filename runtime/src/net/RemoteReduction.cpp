//===- RemoteReduction.cpp - sums of gradients over processes -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemoteReduction.h"

#include "Rank.h"
#include "Waiting.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::net;
using engine::faultBit;
using engine::Share;

static constexpr uint32_t oneStep = 2;

//===----------------------------------------------------------------------===//
// The common part of all transports
//===----------------------------------------------------------------------===//

static Share shareOf(const JoinedPiece &piece, int32_t member) {
  return engine::shareOf(piece.description, member,
                         static_cast<int32_t>(piece.members.size()));
}

int64_t RemoteReduction::bytesOf(int32_t member) const {
  Share share = ::shareOf(piece, member);
  return (share.end - share.begin) * artifact::byteSize(piece.description.type);
}

char *RemoteReduction::accumulatorsOf(int32_t member) const {
  return piece.arena + piece.description.offset +
         ::shareOf(piece, member).begin *
             artifact::byteSize(piece.description.type);
}

/// The contributions of others are stored in the order of members.
char *RemoteReduction::bufferOf(int32_t peer) const {
  int64_t number = peer < piece.self ? peer : peer - 1;
  return piece.arena + piece.description.bufferOffset +
         number * piece.description.stride;
}

template <typename Function>
void RemoteReduction::forEachPeer(Function function) {
  for (int32_t peer = 0; peer < static_cast<int32_t>(piece.members.size());
       ++peer)
    if (peer != piece.self)
      function(peer);
}

/// Exchanges shares that are gathered. They are already complete, like the sums
/// at the end of a reduction.
void RemoteReduction::exchangeShares() {
  left = 1;
  bool hasShare = bytesOf(piece.self) > 0;
  forEachPeer([&](int32_t peer) {
    left += static_cast<int32_t>(hasShare) + (bytesOf(peer) > 0 ? 1 : 0);
  });
  forEachPeer([&](int32_t peer) {
    if (bytesOf(peer) > 0)
      receive(Part::sum, peer, accumulatorsOf(peer), bytesOf(peer));
  });
  forEachPeer([&](int32_t peer) {
    if (hasShare)
      send(Part::sum, peer, accumulatorsOf(piece.self), bytesOf(piece.self));
  });
  finishOne();
}

/// Members whose share is empty have nothing to sum.
void RemoteReduction::begin() {
  if (piece.description.gathers)
    return exchangeShares();
  auto others = static_cast<int32_t>(piece.members.size()) - 1;
  bool hasShare = bytesOf(piece.self) > 0, scatters = this->scatters();
  contributionsMissing = hasShare ? others : 0;
  int32_t phases = scatters ? 1 : 2;
  // Starts at one, so that the reduction is not finished before all transfers
  // have begun.
  left = 1 + (hasShare ? phases * others : 0);
  forEachPeer([&](int32_t peer) {
    left += bytesOf(peer) > 0 ? phases : 0;
    contributionsMissing += scatters && bytesOf(peer) > 0 ? 1 : 0;
  });
  forEachPeer([&](int32_t peer) {
    if (hasShare)
      receive(Part::contribution, peer, bufferOf(peer), bytesOf(piece.self));
  });
  forEachPeer([&](int32_t peer) {
    if (bytesOf(peer) > 0)
      send(Part::contribution, peer, accumulatorsOf(peer), bytesOf(peer));
  });
  finishOne();
}

void RemoteReduction::finishOne() {
  if (--left == 0)
    finish();
}

void RemoteReduction::addShare() {
  std::vector<const char *> parts;
  parts.reserve(piece.members.size());
  for (int32_t member = 0; member < static_cast<int32_t>(piece.members.size());
       ++member)
    parts.push_back(member == piece.self ? accumulatorsOf(member)
                                         : bufferOf(member));
  Share share = ::shareOf(piece, piece.self);
  int64_t elements = share.end - share.begin;
  engine::addInOrder(piece.description.type, parts,
                     {{accumulatorsOf(piece.self), {0, elements}}},
                     {0, elements});
}

void RemoteReduction::addIfReady() {
  if (--contributionsMissing > 0)
    return;
  addShare();
  if (scatters())
    return;
  forEachPeer([&](int32_t peer) {
    send(Part::sum, peer, accumulatorsOf(piece.self), bytesOf(piece.self));
  });
}

void RemoteReduction::received(Part part, int32_t) {
  if (part == Part::contribution)
    addIfReady();
  finishOne();
}

/// A sum is received into the memory of the contribution, so only after that is
/// sent.
void RemoteReduction::sent(Part part, int32_t peer) {
  if (part == Part::contribution && scatters())
    addIfReady();
  else if (part == Part::contribution)
    receive(Part::sum, peer, accumulatorsOf(peer), bytesOf(peer));
  finishOne();
}

//===----------------------------------------------------------------------===//
// TCP
//===----------------------------------------------------------------------===//

TcpReduction::TcpReduction(JoinedPiece joined, Wire wire)
    : RemoteReduction(std::move(joined)), wire(std::move(wire)) {
  for (std::vector<Peer> &list : peers)
    list.resize(piece.members.size());
}

void TcpReduction::post(veeline_rank &) {
  ++numPosted;
  wire.defer([this] { begin(); });
}

void TcpReduction::wait(veeline_rank &rank) {
  if (countWait(rank) &&
      !piece.group.waitFor(rank, piece.group.indexOf(piece.index), finished,
                           numWaited * oneStep))
    rank.failed = true;
}

void TcpReduction::abort() { finished.setBits(faultBit); }

void TcpReduction::finish() { finished.add(oneStep); }

int32_t TcpReduction::memberOf(int32_t rank) const {
  return static_cast<int32_t>(
      std::find(piece.members.begin(), piece.members.end(), rank) -
      piece.members.begin());
}

TcpReduction::Peer *TcpReduction::find(Part part, int32_t rank) {
  auto member = static_cast<size_t>(memberOf(rank));
  if (part > Part::sum || member == piece.members.size())
    return nullptr;
  return &peers[static_cast<size_t>(part)][member];
}

void TcpReduction::receive(Part part, int32_t peer, char *place,
                           int64_t bytes) {
  int32_t rank = piece.members[static_cast<size_t>(peer)];
  Peer &from = *find(part, rank);
  from.place = place;
  from.bytes = bytes;
  wire.sendCredit(part, rank);
}

void TcpReduction::send(Part part, int32_t peer, char *place, int64_t bytes) {
  Peer &to = *find(part, piece.members[static_cast<size_t>(peer)]);
  if (to.credits > 0) {
    --to.credits;
    return transmit(part, peer, place, bytes);
  }
  to.pending = place;
  to.pendingBytes = bytes;
}

void TcpReduction::transmit(Part part, int32_t peer, char *place,
                            int64_t bytes) {
  wire.sendFrame(part, piece.members[static_cast<size_t>(peer)], place, bytes,
                 [this, part, peer] { sent(part, peer); });
}

bool TcpReduction::credit(Part part, int32_t rank) {
  Peer *from = find(part, rank);
  if (!from)
    return false;
  if (!from->pending) {
    ++from->credits;
    return true;
  }
  char *place = std::exchange(from->pending, nullptr);
  transmit(part, memberOf(rank), place, from->pendingBytes);
  return true;
}

char *TcpReduction::placeOf(Part part, int32_t rank, uint64_t bytes) {
  Peer *from = find(part, rank);
  if (!from || static_cast<uint64_t>(from->bytes) != bytes)
    return nullptr;
  return std::exchange(from->place, nullptr);
}

void TcpReduction::arrive(Part part, int32_t rank) {
  received(part, memberOf(rank));
}

//===----------------------------------------------------------------------===//
// MPI
//===----------------------------------------------------------------------===//

void MpiReduction::add(const char *problem, Transfer transfer) {
  if (!problem)
    transfers.push_back(transfer);
  else if (error.empty())
    error = problem;
}

void MpiReduction::ring(int32_t peer) {
  if (Bell *bell = bells.of(piece.members[static_cast<size_t>(peer)]))
    bell->ring();
}

void MpiReduction::receive(Part part, int32_t peer, char *place,
                           int64_t bytes) {
  void *request = nullptr;
  const char *problem =
      mpi.receive(place, bytes, piece.members[static_cast<size_t>(peer)],
                  tagOf(part), &request);
  add(problem, {request, part, peer, false});
}

void MpiReduction::send(Part part, int32_t peer, char *place, int64_t bytes) {
  void *request = nullptr;
  const char *problem =
      mpi.send(place, bytes, piece.members[static_cast<size_t>(peer)],
               tagOf(part), &request);
  add(problem, {request, part, peer, true});
  ring(peer);
}

void MpiReduction::post(veeline_rank &rank) {
  ++numPosted;
  begin();
  progress(rank);
}

/// A transfer that is done may begin further transfers, which are added at the
/// end of the list.
void MpiReduction::progress(veeline_rank &rank) {
  for (auto it = transfers.begin(); it != transfers.end() && error.empty();) {
    bool done = false;
    if (const char *problem = mpi.test(it->request, &done, nullptr)) {
      error = problem;
      break;
    }
    if (!done) {
      ++it;
      continue;
    }
    Transfer over = *it;
    it = transfers.erase(it);
    if (over.isSend)
      sent(over.part, over.peer);
    else {
      ring(over.peer);
      received(over.part, over.peer);
    }
    if (it == transfers.end())
      it = transfers.begin();
  }
  if (!error.empty() && !rank.failed)
    rank.fail("gradients of replicas: " + error);
}

void MpiReduction::wait(veeline_rank &rank) {
  if (countWait(rank) &&
      !sleepUntil(rank, piece.group.indexOf(piece.index), bells, isAborted,
                  [this] { return numFinished == numPosted; }))
    rank.failed = true;
}
