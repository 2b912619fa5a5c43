//===- RemoteChannel.cpp - messages between two processes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemoteChannel.h"

#include "Rank.h"

#include "veeline/Base/Check.h"

using namespace veeline;
using namespace veeline::net;
using engine::faultBit;
using engine::oneMessage;

//===----------------------------------------------------------------------===//
// The sender's end
//===----------------------------------------------------------------------===//

void RemoteSender::post(veeline_rank &rank, void *) {
  rank.failOnChannel(index, " is posted by its sender");
}

void RemoteSender::wait(veeline_rank &rank) {
  rank.failOnChannel(index, " is waited for by its sender");
}

char *RemoteSender::takePlace() {
  std::lock_guard<std::mutex> lock(mutex);
  if (freePlaces.empty()) {
    places.push_back(std::make_unique<char[]>(
        static_cast<size_t>(description.messageBytes)));
    return places.back().get();
  }
  char *place = freePlaces.back();
  freePlaces.pop_back();
  return place;
}

/// Waits until the receiver has posted message `number`. Returns false after a
/// fault.
bool RemoteSender::waitForCredit(veeline_rank &rank, uint32_t number) {
  if (group.waitFor(rank, index, credits, (number + 1) * oneMessage))
    return true;
  rank.failed = true;
  return false;
}

void *RemoteSender::acquire(veeline_rank &rank) {
  bool isFirst =
      numAcquired % static_cast<uint32_t>(description.messagesPerStep) == 0;
  if (!isFirst && !waitForCredit(rank, numAcquired))
    return nullptr;
  ++numAcquired;
  acquired.push_back(takePlace());
  return acquired.back();
}

void RemoteSender::commit(veeline_rank &rank) {
  if (acquired.empty())
    return rank.failOnChannel(index, " is committed, but nothing was acquired");
  auto [number, part] = committed;
  if (!waitForCredit(rank, number))
    return;
  char *place = acquired.front();
  int64_t bytes = rank.messageBytes(description, number);
  bool isLast = committed.count(description.parts);
  if (isLast)
    acquired.erase(acquired.begin());
  send({number, place + engine::partOf(description, bytes, part).offset,
        engine::identityOf(rank, index, number, part),
        isLast ? place : nullptr});
}

void RemoteSender::abort() { credits.setBits(faultBit); }

void RemoteSender::credit() { credits.add(oneMessage); }

void RemoteSender::sent(char *place) {
  std::lock_guard<std::mutex> lock(mutex);
  freePlaces.push_back(place);
}

//===----------------------------------------------------------------------===//
// The receiver's end
//===----------------------------------------------------------------------===//

void RemoteReceiver::post(veeline_rank &rank, void *slot) {
  uint32_t number = numPosted.load(std::memory_order_relaxed);
  if (number - numWaited >= slots.size())
    return rank.failOnChannel(
        index, " has no more than " + std::to_string(slots.size()) +
                   " messages a step, one more was posted");
  slots[number % slots.size()] = slot;
  numPosted.store(number + 1, std::memory_order_release);
  announce();
}

void RemoteReceiver::wait(veeline_rank &rank) {
  if (numWaited == numPosted.load(std::memory_order_relaxed))
    return rank.failOnChannel(index, " is waited for, but nothing was posted");
  int32_t parts = description.parts;
  uint32_t number = numWaited++;
  if (!group.waitFor(rank, index, arrived, numWaited * parts * oneMessage))
    rank.failed = true;
  else
    engine::checkIdentities(rank, index, number, parts,
                            &identities[number % slots.size() * parts]);
}

void *RemoteReceiver::acquire(veeline_rank &rank) {
  rank.failOnChannel(index, " is sent to by its receiver");
  return nullptr;
}

void RemoteReceiver::commit(veeline_rank &rank) {
  rank.failOnChannel(index, " is committed by its receiver");
}

void RemoteReceiver::abort() { arrived.setBits(faultBit); }

/// The parts of a shorter message are also contiguous. The exact size of each
/// part is checked when the rank waits, because it knows the size then.
char *RemoteReceiver::placeOf(uint32_t number, int32_t part, uint64_t bytes) {
  auto most = static_cast<uint64_t>(
      engine::partOf(description, description.messageBytes, numArrived.part)
          .bytes);
  bool hasSize =
      description.lengthShapes.empty() ? bytes == most : bytes <= most;
  int32_t next =
      description.parts == 1 ? engine::wholeMessage : numArrived.part;
  if (!hasSize || part != next || number != numArrived.messages ||
      number == numPosted.load(std::memory_order_acquire))
    return nullptr;
  return static_cast<char *>(slots[number % slots.size()]) + offset;
}

void RemoteReceiver::arrive(const engine::Identity &identity) {
  auto [number, part] = numArrived;
  identities[number % slots.size() * description.parts + part] = identity;
  bool isLast = numArrived.count(description.parts);
  offset = isLast ? 0 : offset + identity.bytes;
  arrived.add(oneMessage);
}
