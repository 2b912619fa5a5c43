//===- FirstMessages.h - connecting all that exchange messages -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_FIRSTMESSAGES_H
#define VEELINE_RUNTIME_CUDA_FIRSTMESSAGES_H

#include "Communicators.h"

namespace veeline::cuda {

class CudaRank;

/// Has each two ranks that the tables of a program have a message between, in
/// each direction and on each communicator, exchange a first one. NCCL connects
/// them then, and waits in the host for the other one: two ranks that first
/// receive, each from the other, would wait for ever, though their devices
/// could do both. Two ranks may also connect both directions in one message of
/// NCCL's own, whose size is that of what a group connects, so that one end
/// that groups a send and a receive and one that does not would not understand
/// each other. So every process calls this, and here all that a rank has on a
/// communicator is one group.
Status exchangeFirstMessages(Communicators &communicators, const CudaRank &rank,
                             engine::Network &network, double timeoutSeconds);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_FIRSTMESSAGES_H
