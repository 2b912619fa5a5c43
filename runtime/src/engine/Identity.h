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

/// The value of Identity::part for a message that is not in parts.
inline constexpr int32_t wholeMessage = -1;

/// Distinguishes a message from all others, with a field for each property.
/// Processes on the same machine type send this struct as it is.
struct Identity {
  artifact::ChannelKind kind = artifact::ChannelKind::activation;
  int32_t edge = 0;
  int32_t microbatch = -1;     ///< -1 for what is sent once a step.
  int32_t part = wholeMessage; ///< If messages of the channel have several.
  int64_t bytes = 0;           ///< The size of the part.

  bool operator==(const Identity &) const = default;
};

/// Returns what a rank now sends or expects on a channel of the program,
/// according to the running entry of its table of operations. The other end has
/// another table. `number` counts the messages of the channel since the start,
/// `part` counts the parts of this one.
Identity identityOf(const veeline_rank &rank, int32_t channel, uint32_t number,
                    int32_t part = wholeMessage);

/// Fails the rank if `arrived` differs from `expected`.
void compareIdentities(veeline_rank &rank, int32_t channel,
                       const Identity &arrived, const Identity &expected);

/// Fails the rank if `arrived` differs from what the rank expects now.
void checkIdentity(veeline_rank &rank, int32_t channel, uint32_t number,
                   int32_t part, const Identity &arrived);

/// Fails the rank if one of the `parts` of a message differs from what the rank
/// expects now.
void checkIdentities(veeline_rank &rank, int32_t channel, uint32_t number,
                     int32_t parts, const Identity *arrived);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_IDENTITY_H
