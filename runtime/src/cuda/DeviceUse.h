//===- DeviceUse.h - what takes memory of a GPU ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DEVICEUSE_H
#define VEELINE_RUNTIME_CUDA_DEVICEUSE_H

#include <cstdint>
#include <string>

namespace veeline::cuda {

/// Bytes of a GPU: of a rank's arena, which is a single allocation, as planned,
/// and what the driver says was taken of the GPU up to now.
struct DeviceUse {
  std::string device;
  int32_t firstRank = 0; ///< Of those of this process that it has.
  int64_t context = 0;   ///< Of CUDA's context, and what others have.
  int64_t arenas = 0;    ///< Of all its ranks.
  int64_t code = 0;      ///< Of the artifact's kernels, as far as launched.
  int64_t libraries = 0; ///< Of cuBLASLt and cuDNN.
  int64_t messages = 0;  ///< Of NCCL.
  int64_t graphs = 0;
  int64_t rest = 0; ///< Beside all of these; below 0 where some was given back.
  int64_t most = 0; ///< Of all of it, whenever it was looked at.
  // Of an arena that was poisoned:
  int64_t highWater = 0;  ///< The end of what was written of it.
  int64_t strayLines = 0; ///< Of 64 bytes, written outside of all regions.
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEUSE_H
