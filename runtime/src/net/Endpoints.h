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

/// Returns a text such as "127.0.0.1:29500" or "[::1]:29500".
std::string nameOf(const asio::ip::tcp::endpoint &endpoint);

/// Warns if only this machine resolves `name` to the loopback, as Debian's
/// /etc/hosts does with the machine's own name. Other machines cannot reach
/// this one at such an address.
void warnOfLoopback(const std::string &name,
                    const asio::ip::tcp::endpoint &endpoint);

/// Binds to `endpoint`. If it has no port, binds to any port except `reserved`,
/// which is that of rank 0. The system may assign that port until rank 0
/// listens; a rank that comes early would then connect to this process, or to
/// itself.
void bindTo(asio::ip::tcp::acceptor &acceptor,
            const asio::ip::tcp::endpoint &endpoint, uint16_t reserved,
            asio::error_code &error);

/// Formats a place as "address port", for messages.
std::string nameOfPlace(std::string place);

/// Whether the other end has closed the connection and nothing that it sent is
/// left to read.
bool hasEnded(asio::ip::tcp::socket &socket);

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_ENDPOINTS_H
