//===- DeviceChannel.cpp - messages between ranks of one GPU --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceChannel.h"

#include "CudaRank.h"

using namespace veeline;
using namespace veeline::cuda;
using engine::oneMessage;

DeviceChannel::DeviceChannel(engine::Group &group, int32_t index,
                             const artifact::Channel &description)
    : group(group), index(index),
      capacity(static_cast<uint32_t>(description.messagesPerStep)),
      streamNumber(description.stream), slots(capacity),
      identities(group.checksMessages() ? capacity : 0), free(capacity),
      sent(capacity) {}

Status DeviceChannel::prepare(const Device &device) {
  VEELINE_TRY(computed.create(device));
  for (uint32_t i = 0; i < capacity; ++i) {
    VEELINE_TRY(free[i].create(device));
    VEELINE_TRY(sent[i].create(device));
  }
  return Status::success();
}

void DeviceChannel::post(CudaRank &rank, void *slot) {
  if (receiver.numPosted - receiver.numWaited >= capacity)
    return rank.fail("channel " + std::to_string(index) + " has no more than " +
                     std::to_string(capacity) +
                     " messages a step, one more was posted");
  uint32_t place = receiver.numPosted % capacity;
  slots[place] = slot;
  auto lock = rank.serialize();
  if (!rank.require(free[place].record(rank.currentStream())))
    return;
  ++receiver.numPosted;
  receiver.posted.add(oneMessage);
}

void DeviceChannel::wait(CudaRank &rank) {
  if (receiver.numWaited == receiver.numPosted)
    return rank.fail("channel " + std::to_string(index) +
                     " is waited for, but nothing was posted");
  uint32_t number = receiver.numWaited++, place = number % capacity;
  if (!group.waitFor(rank, index, sender.issued,
                     receiver.numWaited * oneMessage)) {
    rank.failed = true;
    return;
  }
  if (!identities.empty())
    checkIdentity(rank, index, number, engine::wholeMessage, identities[place]);
  auto lock = rank.serialize();
  (void)rank.require(sent[place].holdUp(rank.currentStream()));
}

const Event *DeviceChannel::send(CudaRank &rank, const void *value,
                                 int64_t bytes) {
  uint32_t place = sender.numIssued % capacity;
  if (!group.waitFor(rank, index, receiver.posted,
                     (sender.numIssued + 1) * oneMessage)) {
    rank.failed = true;
    return nullptr;
  }
  auto lock = rank.serialize();
  api::Stream stream = rank.stream(streamNumber);
  bool isIssued = rank.require(computed.record(rank.currentStream())) &&
                  rank.require(computed.holdUp(stream)) &&
                  rank.require(free[place].holdUp(stream)) &&
                  rank.require(VEELINE_CALL(
                      rank.driver(), cuMemcpyDtoDAsync_v2,
                      reinterpret_cast<api::DevicePointer>(slots[place]),
                      reinterpret_cast<api::DevicePointer>(value),
                      static_cast<size_t>(bytes), stream)) &&
                  rank.require(sent[place].record(stream));
  if (!isIssued)
    return nullptr;
  if (!identities.empty())
    identities[place] = engine::identityOf(rank, index, sender.numIssued);
  ++sender.numIssued;
  sender.issued.add(oneMessage);
  return &sent[place];
}

void DeviceChannel::abort() {
  receiver.posted.setBits(engine::faultBit);
  sender.issued.setBits(engine::faultBit);
}

bool DeviceChannel::isIdle() const {
  return receiver.numPosted == receiver.numWaited &&
         receiver.numWaited == sender.numIssued;
}
