//===- DeviceReduction.h - gradients of ranks of one GPU -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DEVICEREDUCTION_H
#define VEELINE_RUNTIME_CUDA_DEVICEREDUCTION_H

#include "Channel.h"
#include "Device.h"

#include <atomic>

namespace veeline::cuda {

class CudaRank;

/// A piece of accumulators that ranks add up which are threads and share a GPU.
/// The last one that posts issues the sum, in the order of the replicas, for
/// all; each one's stream goes on when it is there.
class DeviceReduction {
public:
  /// `number` is what Group calls the reduction; `accumulators` are by replica.
  DeviceReduction(engine::Group &group, int32_t number, int32_t stream,
                  const artifact::ReducedPiece &piece,
                  std::vector<api::DevicePointer> accumulators);

  /// Makes the events.
  Status prepare(const Device &device);

  // By the `member` of that number, each once a step; `step` counts from 1.
  void post(CudaRank &rank, size_t member, uint32_t step);
  void wait(CudaRank &rank, uint32_t step);

  /// Wakes who waits, for good. From any thread.
  void abort() { issued.setBits(engine::faultBit); }

private:
  bool issue(CudaRank &rank);

  engine::Group &group;
  const int32_t number, streamNumber;
  const artifact::ReducedPiece &piece;
  const std::vector<api::DevicePointer> accumulators;
  std::vector<Event> posted; ///< By member.
  Event added;
  std::atomic<uint64_t> arrivals{0};
  WaitWord issued; ///< Steps, times two; bit 0 is a fault.
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEREDUCTION_H
