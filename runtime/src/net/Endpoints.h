//===- Endpoints.h - addresses and ports to listen at -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_ENDPOINTS_H
#define VEELINE_RUNTIME_NET_ENDPOINTS_H

#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

namespace veeline::net {

/// As in "127.0.0.1:29500" or "[::1]:29500".
std::string nameOf(const asio::ip::tcp::endpoint &endpoint);

/// Warns if `name` is the loopback for this machine only, as Debian's
/// /etc/hosts has the machine's own name: other machines do not get here by it.
void warnOfLoopback(const std::string &name,
                    const asio::ip::tcp::endpoint &endpoint);

/// Binds to `endpoint`, or if that has no port, to any port but `reserved`,
/// which is rank 0's. The system may give that one away until rank 0 listens,
/// and a rank that comes early would find this process there, or itself.
void bindTo(asio::ip::tcp::acceptor &acceptor,
            const asio::ip::tcp::endpoint &endpoint, uint16_t reserved,
            asio::error_code &error);

/// "address port" as messages have it.
std::string nameOfPlace(std::string place);

/// Whether the other end has closed the connection, and nothing is left to read
/// that it has said before.
bool hasEnded(asio::ip::tcp::socket &socket);

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_ENDPOINTS_H
