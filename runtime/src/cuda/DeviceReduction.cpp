//===- DeviceReduction.cpp - gradients of ranks of one GPU ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceReduction.h"

#include "CudaRank.h"

using namespace veeline;
using namespace veeline::cuda;

DeviceReduction::DeviceReduction(engine::Group &group, int32_t number,
                                 int32_t stream,
                                 const artifact::ReducedPiece &piece,
                                 std::vector<api::DevicePointer> accumulators)
    : group(group), number(number), streamNumber(stream), piece(piece),
      accumulators(std::move(accumulators)) {}

Status DeviceReduction::prepare(const Device &device) {
  for (size_t i = 0; i < accumulators.size(); ++i)
    VEELINE_TRY(posted.emplace_back().create(device));
  return added.create(device);
}

/// Issues the sum into the first rank's accumulators, and copies from there to
/// the others.
bool DeviceReduction::issue(CudaRank &rank) {
  api::Stream stream = rank.stream(streamNumber);
  for (const Event &event : posted) {
    auto lock = rank.serialize();
    if (!rank.require(event.holdUp(stream)))
      return false;
  }
  if (!rank.launchSum(stream, piece.sumKernel, accumulators[0], accumulators,
                      piece.numElements))
    return false;
  auto lock = rank.serialize();
  auto bytes =
      static_cast<size_t>(piece.numElements * artifact::byteSize(piece.type));
  for (size_t i = 1; i < accumulators.size(); ++i)
    if (!rank.require(VEELINE_CALL(rank.driver(), cuMemcpyDtoDAsync_v2,
                                   accumulators[i], accumulators[0], bytes,
                                   stream)))
      return false;
  return rank.require(added.record(stream));
}

void DeviceReduction::post(CudaRank &rank, size_t member, uint32_t step) {
  auto lock = rank.serialize();
  bool isRecorded = rank.require(posted[member].record(rank.currentStream()));
  if (lock)
    lock.unlock();
  if (!isRecorded)
    return;
  uint64_t arrival = arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  // All have posted, and no rank is in another step.
  if (arrival == uint64_t(step) * accumulators.size() && issue(rank))
    issued.add(engine::oneMessage);
}

void DeviceReduction::wait(CudaRank &rank, uint32_t step) {
  if (!group.waitFor(rank, number, issued, step * engine::oneMessage)) {
    rank.failed = true;
    return;
  }
  auto lock = rank.serialize();
  (void)rank.require(added.holdUp(rank.currentStream()));
}
