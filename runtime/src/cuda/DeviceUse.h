//===- DeviceUse.h - memory in use on a GPU ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DEVICEUSE_H
#define VEELINE_RUNTIME_CUDA_DEVICEUSE_H

#include <cstdint>
#include <string>

namespace veeline::cuda {

/// Memory in use on a GPU in bytes, by purpose, as the driver counts it. Also
/// how much was written of one rank's arena, which is a single allocation of
/// the planned size.
struct DeviceUse {
  std::string device;
  int32_t firstRank = 0; ///< The first of this process's ranks on the GPU.
  int64_t context = 0;   ///< CUDA's context, and other programs.
  int64_t arenas = 0;    ///< The arenas of all ranks on the GPU.
  int64_t code = 0;      ///< The artifact's kernels that were launched.
  int64_t libraries = 0; ///< cuBLASLt and cuDNN.
  int64_t messages = 0;  ///< NCCL.
  int64_t graphs = 0;
  int64_t rest = 0; ///< Everything else. Negative if memory was given back.
  int64_t most = 0; ///< The highest total of all measurements.
  // Page-locked memory of the host, of one rank:
  int64_t pinned = 0;    ///< All of it.
  int64_t offloaded = 0; ///< The part for offloaded values.
  // Of a poisoned arena:
  int64_t highWater = 0; ///< The end of the last byte written.
  /// The number of 64-byte lines written outside of all regions.
  int64_t strayLines = 0;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICEUSE_H
