//===- Identity.h - the identity of a message -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_IDENTITY_H
#define VEELINE_RUNTIME_ENGINE_IDENTITY_H

#include "veeline/artifact.h"

struct veeline_rank;

namespace veeline::engine {

/// Identity::part of a message that is not in parts.
inline constexpr int32_t wholeMessage = -1;

/// Tells a message from all others, by a field for each property. Processes of
/// one machine type send it as it is.
struct Identity {
  artifact::ChannelKind kind = artifact::ChannelKind::activation;
  int32_t edge = 0;
  int32_t microbatch = -1;     ///< -1 for what is sent once a step.
  int32_t part = wholeMessage; ///< If messages of the channel have several.
  int64_t bytes = 0;           ///< Of the part.

  bool operator==(const Identity &) const = default;
};

/// What a rank sends or expects now on a channel of the program, according to
/// the running entry of its own table of operations; the other end has another
/// table. `number` counts the messages of the channel since the start, `part`
/// the parts of this one.
Identity identityOf(const veeline_rank &rank, int32_t channel, uint32_t number,
                    int32_t part = wholeMessage);

/// Fails the rank if `arrived` is not `expected`.
void compareIdentities(veeline_rank &rank, int32_t channel,
                       const Identity &arrived, const Identity &expected);

/// The same with what it expects now.
void checkIdentity(veeline_rank &rank, int32_t channel, uint32_t number,
                   int32_t part, const Identity &arrived);

/// The same for all `parts` of a message.
void checkIdentities(veeline_rank &rank, int32_t channel, uint32_t number,
                     int32_t parts, const Identity *arrived);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_IDENTITY_H
