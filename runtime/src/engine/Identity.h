//===- Identity.h - which message a message is -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_IDENTITY_H
#define VEELINE_RUNTIME_ENGINE_IDENTITY_H

#include "veeline/artifact.h"

struct veeline_rank;

namespace veeline::engine {

/// The part of a message that has no parts.
inline constexpr int32_t wholeMessage = -1;

/// Fields of their own, so that no two messages can be taken for each other.
/// Sent as it is between processes of one machine type.
struct Identity {
  artifact::ChannelKind kind = artifact::ChannelKind::activation;
  int32_t edge = 0;
  int32_t microbatch = -1;     ///< -1 of what is sent once a step.
  int32_t part = wholeMessage; ///< Of a channel whose messages have several.
  int64_t bytes = 0;           ///< Of the part.

  bool operator==(const Identity &) const = default;
};

/// What a rank sends or expects now by a channel of the program: as the entry
/// of its table of operations says that runs, which is not the table of the
/// other end. `number` counts the messages of the channel since the start,
/// `part` the parts of this one.
Identity identityOf(const veeline_rank &rank, int32_t channel, uint32_t number,
                    int32_t part = wholeMessage);

/// Ends the run where `arrived` is not what the rank expects.
void checkIdentity(veeline_rank &rank, int32_t channel, uint32_t number,
                   int32_t part, const Identity &arrived);

/// The same for all `parts` of a message.
void checkIdentities(veeline_rank &rank, int32_t channel, uint32_t number,
                     int32_t parts, const Identity *arrived);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_IDENTITY_H
