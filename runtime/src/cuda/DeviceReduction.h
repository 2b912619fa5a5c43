//===- DeviceReduction.h - sums of gradients on one GPU ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DEVICEREDUCTION_H
#define VEELINE_RUNTIME_CUDA_DEVICEREDUCTION_H

#include "Channel.h"
#include "Device.h"
#include "Reduction.h"

#include <atomic>

namespace veeline::cuda {

class CudaRank;

/// The sum of a piece of accumulators, or the gather of the shares of a
/// parameter, for ranks that are threads and share a GPU. The last rank that
/// posts issues it, in the order of the replicas. The streams of all ranks wait
/// for it.
class DeviceReduction {
public:
  /// `number` is the reduction's number in Group. `accumulators` are by
  /// replica.
  DeviceReduction(engine::Group &group, int32_t number, int32_t stream,
                  const artifact::ReducedPiece &piece,
                  std::vector<api::DevicePointer> accumulators);

  /// Creates the events.
  Status prepare(const Device &device);

  // Called by each member once in a step. `step` counts from 1.
  void post(CudaRank &rank, size_t member, uint32_t step);
  void wait(CudaRank &rank, uint32_t step);

  /// Ends all waits, now and later. May be called from any thread.
  void abort() { issued.setBits(engine::faultBit); }

private:
  bool issue(CudaRank &rank);
  engine::Share elementsFor(int32_t from, int32_t to) const;
  bool copy(CudaRank &rank, api::Stream stream, int32_t from, int32_t to,
            engine::Share elements);

  engine::Group &group;
  const int32_t number, streamNumber;
  const artifact::ReducedPiece &piece;
  const std::vector<api::DevicePointer> accumulators;
  std::vector<Event> posted; ///< By member.
  Event added;
  std::atomic<uint64_t> arrivals{0};
  WaitWord issued; ///< Twice the number of steps. Bit 0 is a fault.
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEREDUCTION_H
