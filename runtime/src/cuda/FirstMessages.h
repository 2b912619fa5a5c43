//===- FirstMessages.h - connecting ranks that send messages ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_FIRSTMESSAGES_H
#define VEELINE_RUNTIME_CUDA_FIRSTMESSAGES_H

#include "Communicators.h"

namespace veeline::cuda {

class CudaRank;

/// Makes all pairs of ranks between which the program's tables have a message
/// exchange a first one, in each direction and on each communicator. Every
/// process calls this.
///
/// NCCL connects two ranks at their first message, and waits for the other rank
/// in the host. If two ranks first receive from each other, both would wait
/// forever, although their devices could do both. NCCL may also connect both
/// directions by one message of its own, whose size depends on what a group
/// connects. If one end groups a send and a receive, and the other does not,
/// they disagree about this size. So all first messages of a rank on a
/// communicator are one group.
///
/// Then the sums and gathers of a step that NCCL itself carries out run once,
/// for the same reason. So this comes before the arena has its values.
Status exchangeFirstMessages(Communicators &communicators, const CudaRank &rank,
                             engine::Network &network, double timeoutSeconds);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_FIRSTMESSAGES_H
