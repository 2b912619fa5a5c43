//===- TracedTransport.cpp - a transport that prints messages -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TracedTransport.h"

#include "CudaRank.h"

using namespace veeline;
using namespace veeline::cuda;

TracedTransport::TracedTransport(std::unique_ptr<Transport> newTransport,
                                 CudaRank &rank,
                                 const artifact::Metadata &metadata)
    : transport(std::move(newTransport)), trace(rank, metadata),
      ends(rank.channels.size()) {}

void TracedTransport::beginStep(CudaRank &rank, size_t slot, bool isReplayed) {
  transport->beginStep(rank, slot, isReplayed);
}

void TracedTransport::beginGroup(CudaRank &rank) {
  transport->beginGroup(rank);
}

void TracedTransport::endGroup(CudaRank &rank) { transport->endGroup(rank); }

void TracedTransport::beginOp(CudaRank &rank, int32_t op) {
  transport->beginOp(rank, op);
}

void TracedTransport::post(CudaRank &rank, int32_t channel, void *slot) {
  transport->post(rank, channel, slot);
  ends[channel].places.push_back(slot);
}

void TracedTransport::wait(CudaRank &rank, int32_t channel) {
  transport->wait(rank, channel);
  if (rank.failed)
    return;
  std::deque<const void *> &places = ends[channel].places;
  const void *place = places.front();
  places.pop_front();
  print(rank, "received", channel, place);
}

void TracedTransport::send(CudaRank &rank, int32_t channel, const void *value,
                           int64_t bytes) {
  print(rank, "sending", channel, value);
  if (!rank.failed)
    transport->send(rank, channel, value, bytes);
}

void TracedTransport::settle(CudaRank &rank, int32_t stream) {
  transport->settle(rank, stream);
}

void TracedTransport::postSum(CudaRank &rank, int32_t reduction) {
  transport->postSum(rank, reduction);
}

void TracedTransport::waitForSum(CudaRank &rank, int32_t reduction) {
  transport->waitForSum(rank, reduction);
}

/// Reads from the device, once it has run everything that was issued. Returns
/// null after a fault.
const char *TracedTransport::read(CudaRank &rank, const void *place,
                                  int64_t size) {
  bytes.resize(static_cast<size_t>(size));
  // Otherwise, the copy would wait in the driver, where it cannot be aborted.
  if (!rank.awaitIssued())
    return nullptr;
  bool isThere = rank.require(VEELINE_CALL(
                     rank.driver(), cuMemcpyDtoHAsync_v2, bytes.data(),
                     reinterpret_cast<api::DevicePointer>(place), bytes.size(),
                     rank.currentStream())) &&
                 rank.awaitIssued();
  return isThere && !rank.failed ? bytes.data() : nullptr;
}

void TracedTransport::print(CudaRank &rank, const char *what, int32_t channel,
                            const void *place) {
  uint32_t number = ends[channel].number++;
  const char *data =
      read(rank, place, rank.messageBytes(rank.channelOf(channel), number));
  if (data)
    trace.printMessage(what, rank.firstChannel + channel, number, data);
}

void TracedTransport::readBack(CudaRank &rank, size_t slot) {
  transport->readBack(rank, slot);
}

void TracedTransport::inspectGradients(CudaRank &rank,
                                       const std::vector<double> &squares) {
  trace.printGradients(
      [&](int64_t offset, int64_t size) {
        return read(rank, rank.memory().data() + offset, size);
      },
      [&](size_t param) {
        double sum = 0;
        for (size_t i = rank.normPlaces[param]; i < rank.normPlaces[param + 1];
             ++i)
          sum += squares[i];
        return sum;
      });
}

Expected<bool> TracedTransport::await(CudaRank &rank, const Event &event,
                                      const std::function<bool()> &isEnough) {
  return transport->await(rank, event, isEnough);
}
