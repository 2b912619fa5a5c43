//===- Rehearsal.h - what a step needs is loaded before it -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_REHEARSAL_H
#define VEELINE_RUNTIME_CUDA_REHEARSAL_H

#include "CudaRank.h"

namespace veeline::cuda {

/// Loads the kernels that `step`, that of `rank`, launches, and makes each of
/// its calls of libraries once, in memory whose content nobody needs yet.
///
/// The driver may wait for all that the GPU has under way before it loads a
/// kernel, of ours or of a library, and keeps other threads out meanwhile.
/// Where a message of NCCL's is under way, NCCL's own threads may be among
/// these, and it never ends. So ranks that are processes load before they meet.
/// It also shows what cannot be loaded.
Status rehearse(CudaRank &rank, veeline_step_fn step);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_REHEARSAL_H
