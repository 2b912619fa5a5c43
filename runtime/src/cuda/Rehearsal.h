//===- Rehearsal.h - loading what a step needs before it runs ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_REHEARSAL_H
#define VEELINE_RUNTIME_CUDA_REHEARSAL_H

#include "CudaRank.h"

#include <initializer_list>

namespace veeline::cuda {

/// Loads the kernels that `steps` launch, the functions of `rank` for all or a
/// part of a step, and makes each of its library calls once, in memory whose
/// contents are not needed yet. What cannot be loaded fails here. Functions
/// that are null are left out.
///
/// Before the driver loads a kernel, ours or a library's, it may wait for all
/// work on the GPU, and it blocks other threads meanwhile. If a message of
/// NCCL's is under way and NCCL's threads are blocked, that never ends. So
/// ranks that are processes load everything before they connect.
Status rehearse(CudaRank &rank, std::initializer_list<veeline_step_fn> steps);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_REHEARSAL_H
