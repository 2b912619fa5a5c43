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

/// Warns where `name` is one of this machine's that only it finds at the
/// loopback, as Debian's own one in /etc/hosts: it leads the others nowhere.
void warnOfLoopback(const std::string &name,
                    const asio::ip::tcp::endpoint &endpoint);

/// Where `endpoint` has no port, at any but `reserved`, which is rank 0's: the
/// system knows that only when rank 0 listens, and who comes early would find
/// this process there, or itself.
void bindTo(asio::ip::tcp::acceptor &acceptor,
            const asio::ip::tcp::endpoint &endpoint, uint16_t reserved,
            asio::error_code &error);

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_ENDPOINTS_H
