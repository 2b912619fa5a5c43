//===- Placement.h - which GPU a process has -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_PLACEMENT_H
#define VEELINE_RUNTIME_CUDA_PLACEMENT_H

#include "CudaOptions.h"
#include "Device.h"

namespace veeline::cuda {

/// The GPU of this process, where each rank has one: by --device, or by its
/// local rank. NCCL takes no two ranks on one GPU, so two are an error of all
/// processes, each of which calls this. Nothing is allocated.
Expected<int32_t> placeProcess(const Driver &driver,
                               const CudaOptions &options);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_PLACEMENT_H
