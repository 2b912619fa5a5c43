//===- LocalTransport.cpp - messages of ranks that share a GPU ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalTransport.h"

#include "CudaRank.h"
#include "Pause.h"

using namespace veeline;
using namespace veeline::cuda;

/// In nanoseconds. A poll costs little, and a long sleep would delay a step.
static constexpr int64_t longestPause = 50'000;

Status LocalTransport::prepare(CudaRank &rank) {
  return marks.allocate(rank.gpu(),
                        static_cast<size_t>(rank.numComputeStreams()));
}

uint32_t LocalTransport::markOf(int32_t compute) const {
  return marks.read(static_cast<size_t>(compute));
}

void LocalTransport::beginLate(CudaRank &rank) {
  (void)rank.require(
      marks.write(rank.computeStream(), 0, 0,
                  static_cast<size_t>(rank.numComputeStreams())));
}

void LocalTransport::beginOp(CudaRank &rank, int32_t op) {
  auto lock = rank.serialize();
  (void)rank.require(marks.write(rank.currentStream(),
                                 static_cast<size_t>(rank.currentCompute()),
                                 static_cast<uint32_t>(op) + 1));
}

/// This function does not call the driver, because that may block.
bool LocalTransport::showPlace(CudaRank &rank) const {
  if (!rank.isInStep.load(std::memory_order_acquire))
    return false;
  rank.showStep();
  // If the host waits, that is the position of the rank.
  if (rank.awaited >= 0)
    return true;
  auto end = static_cast<uint32_t>(rank.description->ops.size()) + 1;
  uint32_t mark = 0;
  bool isOver = true;
  for (int32_t i = 0; i < rank.numComputeStreams(); ++i) {
    if (markOf(i) == end)
      continue;
    isOver = false;
    mark = std::max(mark, markOf(i));
  }
  int32_t op = static_cast<int32_t>(mark) - 1;
  rank.currentOp.store(op, std::memory_order_relaxed);
  rank.lastOp.store(op, std::memory_order_relaxed);
  return !isOver;
}

Expected<bool> LocalTransport::await(CudaRank &rank, const Event &event,
                                     const std::function<bool()> &isEnough) {
  Pause pause(longestPause);
  for (;;) {
    VEELINE_TRY_VALUE(bool isOver, event.hasHappened());
    if (isOver)
      return true;
    if (watch.hasStalled()) {
      rank.failed = true;
      return rank.fault->status();
    }
    if (isEnough && isEnough())
      return false;
    pause();
  }
}

void LocalTransport::drain(CudaRank &rank) {
  Pause pause(longestPause);
  while (!watch.hasStalled()) {
    Expected<bool> isOver = areDone(rank.driver(), rank.allStreams());
    if (!isOver.ok() || *isOver)
      return;
    pause();
  }
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
  if (const Event *sent = channels[channel]->send(rank, value, bytes))
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
      (void)rank.require(sent.event->holdUp(rank.currentStream()));
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
