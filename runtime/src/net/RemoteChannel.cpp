//===- RemoteChannel.cpp - messages between two processes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemoteChannel.h"

#include "Rank.h"

#include "veeline/Support/Check.h"

using namespace veeline;
using namespace veeline::net;
using host::faultBit;
using host::oneMessage;

static std::string nameOf(int32_t index) {
  return "channel " + std::to_string(index);
}

//===----------------------------------------------------------------------===//
// The sender's end
//===----------------------------------------------------------------------===//

void RemoteSender::post(veeline_rank &rank, void *) {
  rank.fail(nameOf(index) + " is posted by its sender");
}

void RemoteSender::wait(veeline_rank &rank) {
  rank.fail(nameOf(index) + " is waited for by its sender");
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

void *RemoteSender::acquire(veeline_rank &rank) {
  if (!group.waitFor(rank, index, credits, (numAcquired + 1) * oneMessage)) {
    rank.failed = true;
    return nullptr;
  }
  ++numAcquired;
  acquired.push_back(takePlace());
  return acquired.back();
}

void RemoteSender::commit(veeline_rank &rank) {
  if (acquired.empty())
    return rank.fail(nameOf(index) + " is committed, but nothing was acquired");
  char *place = acquired.front();
  acquired.erase(acquired.begin());
  host::Identity identity = host::identityOf(rank, index, numCommitted);
  send({numCommitted++, place, identity});
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
    return rank.fail(nameOf(index) + " has no more than " +
                     std::to_string(slots.size()) +
                     " messages a step, one more was posted");
  slots[number % slots.size()] = slot;
  numPosted.store(number + 1, std::memory_order_release);
  announce();
}

void RemoteReceiver::wait(veeline_rank &rank) {
  if (numWaited == numPosted.load(std::memory_order_relaxed))
    return rank.fail(nameOf(index) + " is waited for, but nothing was posted");
  uint32_t number = numWaited++;
  if (!group.waitFor(rank, index, arrived, numWaited * oneMessage))
    rank.failed = true;
  else
    host::checkIdentity(rank, index, number,
                        identities[number % identities.size()]);
}

void *RemoteReceiver::acquire(veeline_rank &rank) {
  rank.fail(nameOf(index) + " is sent to by its receiver");
  return nullptr;
}

void RemoteReceiver::commit(veeline_rank &rank) {
  rank.fail(nameOf(index) + " is committed by its receiver");
}

void RemoteReceiver::abort() { arrived.setBits(faultBit); }

char *RemoteReceiver::placeOf(uint32_t number) {
  if (number != numArrived ||
      number == numPosted.load(std::memory_order_acquire))
    return nullptr;
  return static_cast<char *>(slots[number % slots.size()]);
}

void RemoteReceiver::arrive(const host::Identity &identity) {
  identities[numArrived++ % identities.size()] = identity;
  arrived.add(oneMessage);
}
