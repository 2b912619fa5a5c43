//===- Identity.h - which message a message is -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_IDENTITY_H
#define VEELINE_RUNTIME_HOST_IDENTITY_H

#include "veeline/artifact.h"

struct veeline_rank;

namespace veeline::host {

/// Fields of their own, so that no two messages can be taken for each other.
/// Sent as it is between processes of one machine type.
struct Identity {
  artifact::ChannelKind kind = artifact::ChannelKind::activation;
  int32_t edge = 0;
  int32_t microbatch = -1; ///< -1 of what is sent once a step.
  int64_t bytes = 0;

  bool operator==(const Identity &) const = default;
};

/// What a rank sends or expects now by a channel of the program: as the entry
/// of its table of operations says that runs, which is not the table of the
/// other end. `number` counts the messages of the channel since the start.
Identity identityOf(const veeline_rank &rank, int32_t channel, uint32_t number);

/// Ends the run where `arrived` is not what the rank expects.
void checkIdentity(veeline_rank &rank, int32_t channel, uint32_t number,
                   const Identity &arrived);

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_IDENTITY_H
