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

/// Loads the kernels that `steps` launch, and makes each of their library calls
/// once, in memory whose content is not needed yet. `steps` are the functions
/// of `rank` for all of a step or a part of it; null ones are left out. What
/// cannot be loaded fails here.
///
/// Before the driver loads a kernel, ours or a library's, it may wait for all
/// work on the GPU, and it blocks other threads meanwhile. If a message of NCCL
/// is under way then, and NCCL's threads are blocked, this never ends. So ranks
/// that are processes load everything before they connect.
Status rehearse(CudaRank &rank, std::initializer_list<veeline_step_fn> steps);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_REHEARSAL_H
