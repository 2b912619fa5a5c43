//===- Frame.h - the protocol between processes -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data on a connection, in the byte order of x86-64. First the connecting
// process sends a Hello, and the listening one answers with a Welcome. Then
// both send frames. A frame is a header, followed by as many bytes as the
// header says.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_FRAME_H
#define VEELINE_RUNTIME_NET_FRAME_H

#include <cstdint>

namespace veeline::net {

inline constexpr char magic[8] = {'V', 'E', 'E', 'L', 'I', 'N', 'E', '2'};

/// Is followed by `aboutBytes` of text: the properties that all processes must
/// have in common.
struct Hello {
  char magic[8];
  char token[64]; ///< Padded with zeros.
  int32_t rank;
  int32_t sought; ///< The rank that should listen here.
  int32_t numRanks;
  uint32_t aboutBytes;
  uint16_t port;      ///< Where the process listens for higher ranks.
  uint16_t isRefusal; ///< It cannot take part; the last line says why.
};

/// Is followed by `bytes` of text: an error, or a line for each rank with the
/// address at which it listens.
struct Welcome {
  char magic[8];
  uint32_t isError;
  uint32_t bytes;
};

enum class FrameKind : uint32_t {
  credit,          ///< The receive of one more message of `channel` is posted.
  message,         ///< A message of `channel`, whose receive is posted.
  reductionCredit, ///< The same two for a part of a reduction.
  reductionPart,
  exchange, ///< One process's part of an exchange or a gathering.
  failure,  ///< The sender cannot continue; the reason follows.
  verdict,  ///< No process can continue; the reason follows.
  goodbye,  ///< The sender has ended its part of the run.
  alive     ///< `number` counts moves; what is awaited follows.
};

/// Has a field for each property of a message, which the receiver checks.
struct Header {
  FrameKind kind;
  int32_t channel; ///< Or the number of a reduction, as for Network::join.
  int32_t edge;
  uint32_t direction; ///< An artifact::ChannelKind, or a Part of a reduction.
  uint32_t number;    ///< Counts the channel's messages since the start.
  int32_t microbatch; ///< -1 for what is sent once a step.
  int32_t part;       ///< Of a message, or engine::wholeMessage.
  uint32_t unused;
  uint64_t bytes;
};

/// The longest text of a Hello, a Welcome, a failure or a sign of life.
inline constexpr uint32_t maxTextBytes = 1 << 20;

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_FRAME_H
