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

/// Bytes of a GPU: of a rank's arena, and beside arenas, which are single
/// allocations, as planned: what the driver says is free, now and before.
struct DeviceUse {
  std::string device;
  int64_t context = 0;  ///< Of CUDA's context, and what others have.
  int64_t code = 0;     ///< Of the artifact's kernels.
  int64_t messages = 0; ///< Of NCCL, up to now.
  // Of an arena that was poisoned:
  int64_t highWater = 0;  ///< The end of what was written of it.
  int64_t strayLines = 0; ///< Of 64 bytes, written outside of all regions.
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEUSE_H
