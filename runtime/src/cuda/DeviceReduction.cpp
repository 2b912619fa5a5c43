//===- DeviceReduction.cpp - sums of gradients on one GPU -----------------===//
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

/// Issues the sum into the first rank's accumulators, and copies it from there
/// to the others, or its share to each; or, for a gather, copies each rank's
/// share.
bool DeviceReduction::issue(CudaRank &rank) {
  api::Stream stream = rank.stream(streamNumber);
  for (const Event &event : posted) {
    auto lock = rank.serialize();
    if (!rank.require(event.holdUp(stream)))
      return false;
  }
  if (!piece.gathers &&
      !rank.launchSum(stream, piece.sumKernel, accumulators[0], accumulators,
                      piece.numElements))
    return false;
  auto lock = rank.serialize();
  auto count = static_cast<int32_t>(accumulators.size());
  bool isCopied = true;
  for (int32_t from = 0; from < count && isCopied; ++from)
    for (int32_t to = 0; to < count && isCopied; ++to)
      isCopied = (from > 0 && !piece.gathers) ||
                 copy(rank, stream, from, to, elementsFor(from, to));
  return isCopied && rank.require(added.record(stream));
}

/// What member `to` needs of what member `from` has.
engine::Share DeviceReduction::elementsFor(int32_t from, int32_t to) const {
  auto count = static_cast<int32_t>(accumulators.size());
  if (piece.gathers)
    return engine::shareOf(piece, from, count);
  return piece.scatters ? engine::shareOf(piece, to, count)
                        : engine::Share{0, piece.numElements};
}

/// Copies elements of one member to another one.
bool DeviceReduction::copy(CudaRank &rank, api::Stream stream, int32_t from,
                           int32_t to, engine::Share elements) {
  int64_t size = artifact::byteSize(piece.type);
  auto offset = static_cast<uint64_t>(elements.begin * size);
  auto bytes = static_cast<size_t>((elements.end - elements.begin) * size);
  return from == to || bytes == 0 ||
         rank.require(VEELINE_CALL(
             rank.driver(), cuMemcpyDtoDAsync_v2,
             accumulators[static_cast<size_t>(to)] + offset,
             accumulators[static_cast<size_t>(from)] + offset, bytes, stream));
}

void DeviceReduction::post(CudaRank &rank, size_t member, uint32_t step) {
  auto lock = rank.serialize();
  bool isRecorded = rank.require(posted[member].record(rank.currentStream()));
  if (lock)
    lock.unlock();
  if (!isRecorded)
    return;
  uint64_t arrival = arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  // If all have posted, no rank is in another step.
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
