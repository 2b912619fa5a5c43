//===- LocalTransport.cpp - messages of ranks that share a GPU ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalTransport.h"

#include "CudaRank.h"

using namespace veeline;
using namespace veeline::cuda;

Status Transport::finish(CudaRank &rank,
                         const std::vector<api::Stream> &streams) {
  for (api::Stream stream : streams)
    VEELINE_TRY(VEELINE_CALL(rank.driver(), cuStreamSynchronize, stream));
  return Status::success();
}

void LocalTransport::setReductions(
    std::vector<std::vector<std::shared_ptr<DeviceReduction>>> newReductions,
    size_t newMember) {
  reductions = std::move(newReductions);
  member = newMember;
  numPosted.assign(reductions.size(), 0);
  numWaited = numPosted;
}

void LocalTransport::beginGroup(CudaRank &) { isInGroup = true; }

void LocalTransport::endGroup(CudaRank &) {
  isInGroup = false;
  unsettled.insert(unsettled.end(), ofGroup.begin(), ofGroup.end());
  ofGroup.clear();
}

void LocalTransport::post(CudaRank &rank, int32_t channel, void *slot) {
  channels[channel]->post(rank, slot);
}

void LocalTransport::wait(CudaRank &rank, int32_t channel) {
  channels[channel]->wait(rank);
}

void LocalTransport::send(CudaRank &rank, int32_t channel, const void *value,
                          int64_t bytes) {
  if (api::Event sent = channels[channel]->send(rank, value, bytes))
    (isInGroup ? ofGroup : unsettled)
        .push_back(
            {rank.currentCompute(), rank.channelOf(channel).stream, sent});
}

void LocalTransport::settle(CudaRank &rank, int32_t stream) {
  auto lock = rank.serialize();
  std::erase_if(unsettled, [&](const Sent &sent) {
    if (sent.compute != rank.currentCompute() || sent.stream != stream)
      return false;
    if (!rank.failed)
      (void)rank.require(VEELINE_CALL(rank.driver(), cuStreamWaitEvent,
                                      rank.currentStream(), sent.event, 0));
    return true;
  });
}

void LocalTransport::postSum(CudaRank &rank, int32_t reduction) {
  uint32_t step = ++numPosted[reduction];
  for (std::shared_ptr<DeviceReduction> &piece : reductions[reduction])
    if (!rank.failed)
      piece->post(rank, member, step);
}

void LocalTransport::waitForSum(CudaRank &rank, int32_t reduction) {
  if (numWaited[reduction] == numPosted[reduction])
    return rank.fail(
        "gradients of replicas are waited for, but none were posted");
  uint32_t step = ++numWaited[reduction];
  for (std::shared_ptr<DeviceReduction> &piece : reductions[reduction])
    if (!rank.failed)
      piece->wait(rank, step);
}

void LocalTransport::abort() {
  for (auto &pieces : reductions)
    for (std::shared_ptr<DeviceReduction> &piece : pieces)
      piece->abort();
}
