//===- MpiChannel.cpp - messages by MPI -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiChannel.h"

#include "Waiting.h"

#include <cstring>
#include <tuple>

using namespace veeline;
using namespace veeline::net;

/// The maximal number of messages of a channel that are being sent. A further
/// message waits for the oldest. It may wait, because a send may block until
/// its receive is posted.
static constexpr size_t maxPlaces = 4;

static constexpr size_t cacheLineBytes = 64;

static size_t wholeLines(size_t bytes) {
  return (bytes + cacheLineBytes - 1) / cacheLineBytes * cacheLineBytes;
}

bool MpiChannel::isDone(veeline_rank &rank, void *request, int64_t *bytes) {
  bool done = false;
  if (const char *error = mpi.test(request, &done, bytes)) {
    rank.failOnChannel(index, std::string(": ") + error);
    return true;
  }
  return done;
}

/// Waits for a send. Returns false after a fault.
bool MpiChannel::await(veeline_rank &rank, void *request) {
  return sleepUntil(rank, index, bells, isAborted,
                    [&] { return isDone(rank, request); });
}

void MpiChannel::ring() {
  if (peer)
    peer->ring();
}

/// Whether a message has arrived. Also true after a fault.
bool MpiChannel::hasCome(veeline_rank &rank, Receiving &message) {
  if (!message.request)
    return true;
  if (!isDone(rank, message.request, &message.bytes))
    return false;
  message.request = nullptr;
  ring();
  return true;
}

/// Receives messages for which this rank does not wait yet, if their sender
/// sleeps until they have arrived.
void MpiChannel::progress(veeline_rank &rank) {
  if (posted.empty() || !peer || !peer->isArmed())
    return;
  for (Receiving &message : posted)
    if (!hasCome(rank, message) || rank.failed)
      return;
}

void MpiChannel::expect(veeline_rank &rank, char *place, int64_t bytes) {
  void *request = nullptr;
  if (const char *error =
          mpi.receive(place, bytes, description.fromRank, index, &request))
    return rank.failOnChannel(index, std::string(": ") + error);
  posted.push_back({request, place});
}

engine::Identity &MpiChannel::identityAt(uint32_t number, int32_t part) {
  auto first = number % static_cast<uint32_t>(description.messagesPerStep);
  return identities[first * static_cast<size_t>(description.parts) +
                    static_cast<size_t>(part)];
}

/// Each part has the room that it has in the longest message. The rank may
/// learn only later which size to expect; `waitForPart` compares it.
void MpiChannel::post(veeline_rank &rank, void *slot) {
  uint32_t number = numPosted++;
  for (int32_t i = 0; i < description.parts && !rank.failed; ++i) {
    if (!identities.empty())
      expect(rank, reinterpret_cast<char *>(&identityAt(number, i)),
             sizeof(engine::Identity));
    engine::Part part =
        engine::partOf(description, description.messageBytes, i);
    if (!rank.failed)
      expect(rank, static_cast<char *>(slot) + part.offset, part.bytes);
  }
}

/// Waits for the oldest receive. Returns false after a fault.
bool MpiChannel::waitForOldest(veeline_rank &rank, int64_t &bytes) {
  bool isThere = sleepUntil(rank, index, bells, isAborted,
                            [&] { return hasCome(rank, posted.front()); });
  bytes = posted.front().bytes;
  posted.pop_front();
  if (!isThere)
    rank.failed = true;
  return !rank.failed;
}

/// Waits for the identity of a part and checks it. Returns false after a fault.
bool MpiChannel::waitForIdentity(veeline_rank &rank, uint32_t number,
                                 int32_t part) {
  int64_t bytes = 0;
  if (!waitForOldest(rank, bytes))
    return false;
  engine::checkIdentity(rank, index, number, part, identityAt(number, part));
  return !rank.failed;
}

/// Waits for a part. Returns false after a fault, for example if the part has
/// another size than the rank expects.
bool MpiChannel::waitForPart(veeline_rank &rank, uint32_t number,
                             int32_t part) {
  int64_t bytes = 0;
  if (!waitForOldest(rank, bytes))
    return false;
  engine::Identity arrived = engine::identityOf(rank, index, number, part);
  arrived.bytes = bytes;
  engine::checkIdentity(rank, index, number, part, arrived);
  return !rank.failed;
}

void MpiChannel::wait(veeline_rank &rank) {
  if (posted.empty())
    return rank.failOnChannel(index, " is waited for, but nothing was posted");
  uint32_t number = numWaited++;
  char *slot = nullptr;
  for (int32_t i = 0; i < description.parts; ++i) {
    // This is checked before the message, because a wrong message may be larger
    // than its place.
    if (!identities.empty() && !waitForIdentity(rank, number, i))
      return;
    char *place = posted.front().place;
    if (!waitForPart(rank, number, i))
      return;
    slot = i == 0 ? place : slot;
    engine::Part part =
        engine::partOf(description, rank.messageBytes(description, number), i);
    if (place != slot + part.offset)
      std::memmove(slot + part.offset, place, static_cast<size_t>(part.bytes));
  }
}

/// The room for identities in front of a message.
size_t MpiChannel::bytesAhead() const {
  if (identities.empty())
    return 0;
  return wholeLines(static_cast<size_t>(description.parts) *
                    sizeof(engine::Identity));
}

/// Several places are one piece of memory, which has huge pages if it is large.
/// Places that are never used are never touched.
void MpiChannel::addPlace(veeline_rank &rank) {
  size_t bytes =
      bytesAhead() + wholeLines(static_cast<size_t>(description.messageBytes));
  size_t number = numPlaces % maxPlaces;
  if (number == 0) {
    memory.push_back(std::make_unique<engine::Arena>());
    if (Status status =
            memory.back()->allocate(static_cast<int64_t>(maxPlaces * bytes));
        !status.ok())
      return rank.failOnChannel(index, ": " + status.message());
  }
  ++numPlaces;
  freePlaces.push_back(memory.back()->data() + number * bytes + bytesAhead());
}

void MpiChannel::release(Sending message) {
  if (message.place)
    freePlaces.push_back(message.place);
}

void MpiChannel::reclaimPlaces(veeline_rank &rank) {
  while (!sending.empty() && isDone(rank, sending.front().request)) {
    release(sending.front());
    sending.pop_front();
  }
}

void *MpiChannel::acquire(veeline_rank &rank) {
  reclaimPlaces(rank);
  while (!rank.failed && freePlaces.empty() && numPlaces >= maxPlaces &&
         !sending.empty())
    finishOldest(rank);
  if (!rank.failed && freePlaces.empty())
    addPlace(rank);
  if (rank.failed)
    return nullptr;
  acquired.push_back(freePlaces.back());
  freePlaces.pop_back();
  return acquired.back();
}

void MpiChannel::commit(veeline_rank &rank) {
  if (acquired.empty())
    return rank.failOnChannel(index, " is committed, but nothing was acquired");
  auto [number, i] = committed;
  char *place = acquired.front();
  bool isLast = committed.count(description.parts);
  if (isLast)
    acquired.pop_front();
  if (!identities.empty()) {
    engine::Identity identity = engine::identityOf(rank, index, number, i);
    char *before = place - bytesAhead() + i * sizeof(identity);
    std::memcpy(before, &identity, sizeof(identity));
    start(rank, before, sizeof(identity), nullptr);
  }
  engine::Part part =
      engine::partOf(description, rank.messageBytes(description, number), i);
  if (!rank.failed)
    start(rank, place + part.offset, part.bytes, isLast ? place : nullptr);
}

/// Starts to send `data`. `place` is free when this is sent.
void MpiChannel::start(veeline_rank &rank, const char *data, int64_t bytes,
                       char *place) {
  void *request = nullptr;
  if (const char *error =
          mpi.send(data, bytes, description.toRank, index, &request))
    return rank.failOnChannel(index, std::string(": ") + error);
  sending.push_back({request, place});
  ring();
}

void MpiChannel::finishOldest(veeline_rank &rank) {
  if (!await(rank, sending.front().request)) {
    rank.failed = true;
    return;
  }
  release(sending.front());
  sending.pop_front();
}

/// Waits for all sends, because MPI makes progress only in calls.
void MpiChannel::flush(veeline_rank &rank) {
  while (!sending.empty() && !rank.failed)
    finishOldest(rank);
}

/// After a fault, the places of messages that are under way are not freed,
/// because MPI may still read them.
MpiChannel::~MpiChannel() {
  for (Sending &message : sending)
    for (bool done = false; !done;) {
      if (isAborted.load(std::memory_order_acquire)) {
        for (std::unique_ptr<engine::Arena> &part : memory)
          std::ignore = part.release();
        return;
      }
      if (mpi.test(message.request, &done, nullptr))
        break;
    }
}
