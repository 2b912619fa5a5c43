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

/// Whether a program has messages whose two ends are on streams of their own,
/// so that a rank receives and sends at once.
bool hasTwoStreamsOfMessages(const artifact::Program &program);

/// Has each two ranks that the tables of a program have a message between, in
/// each direction and on each communicator, exchange a first one. NCCL connects
/// them then, and waits in the host for the other one: two ranks that first
/// receive, each from the other, would wait for ever, though their devices
/// could do both. So every process calls it where that may be, and here all
/// that a rank has on a communicator is one group.
Status exchangeFirstMessages(Communicators &communicators, const CudaRank &rank,
                             host::Network &network, double timeoutSeconds);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_FIRSTMESSAGES_H
