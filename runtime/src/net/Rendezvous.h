//===- Rendezvous.h - how processes connect ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_RENDEZVOUS_H
#define VEELINE_RUNTIME_NET_RENDEZVOUS_H

#include "Launch.h"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <vector>

namespace veeline::net {

struct MeetingOptions {
  Place place;
  /// At most 64 bytes, and the same for all processes. It is empty only on the
  /// loopback, where then only processes of the same user are accepted.
  std::string token;
  /// Lines "name value" on which all processes must agree.
  std::string about;
  double timeoutSeconds = 30;
  /// How long a rank may take without a move; see Stall.
  double stallSeconds = 3600;
  /// The maximal number of bytes that a process gives in an exchange.
  uint64_t maxExchangeBytes = 1 << 20;
  /// If given, rank 0 listens at any free port. All processes call this
  /// function: rank 0 with its port once it listens, the others to get it.
  std::function<Status(uint16_t &)> sharePort;
  /// If not empty, this process takes part only to say why it cannot run, and
  /// the meeting fails.
  std::string refusal;
  /// Whether the user has asked for an end.
  std::function<bool()> isInterrupted;
};

/// Connects every process with every other one, within the timeout. Entry i is
/// the connection to rank i; that of this process is closed.
///
/// Connections that do not belong to a process of this run are dropped, with a
/// line on standard error. An error names the ranks that did not come, or the
/// first line of `about` that differs, and the rank that has it. If neither a
/// token nor a launcher identifies the run, a process that differs may belong
/// to another run. The meeting then fails only if no other process comes in its
/// place.
Expected<std::vector<asio::ip::tcp::socket>>
meet(asio::io_context &io, const MeetingOptions &options);

/// Whether this process has called `meet`.
bool hasMet();

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_RENDEZVOUS_H
