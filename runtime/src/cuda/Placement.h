//===- Placement.h - the GPU of a process -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_PLACEMENT_H
#define VEELINE_RUNTIME_CUDA_PLACEMENT_H

#include "CudaOptions.h"
#include "Device.h"

namespace veeline::cuda {

/// Chooses the GPU of this process, which has one rank, by --device or by its
/// local rank. Every process calls this. All of them fail if two have chosen
/// the same GPU, because NCCL does not support that. Allocates nothing.
Expected<int32_t> placeProcess(const Driver &driver,
                               const CudaOptions &options);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_PLACEMENT_H
