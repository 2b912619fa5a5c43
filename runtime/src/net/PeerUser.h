//===- PeerUser.h - the user of a connected process -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_PEERUSER_H
#define VEELINE_RUNTIME_NET_PEERUSER_H

#include <asio/ip/tcp.hpp>
#include <string>

namespace veeline::net {

/// Why the other end of a connection through the loopback is not a process of
/// this user. Empty if it is one, or if the system does not tell.
std::string whyOfAnotherUser(const asio::ip::tcp::socket &socket);

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_PEERUSER_H
