//===- Endpoints.cpp - addresses and ports to listen at -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Endpoints.h"

#include <cerrno>
#include <cstdio>
#include <sys/socket.h>

using namespace veeline;
using asio::ip::tcp;

std::string net::nameOf(const tcp::endpoint &endpoint) {
  std::string address = endpoint.address().to_string();
  if (endpoint.address().is_v6())
    address = "[" + address + "]";
  return address + ":" + std::to_string(endpoint.port());
}

void net::warnOfLoopback(const std::string &name,
                         const tcp::endpoint &endpoint) {
  asio::error_code isName;
  asio::ip::make_address(name, isName);
  if (!isName || !endpoint.address().is_loopback() ||
      name.find("localhost") != std::string::npos)
    return;
  std::fprintf(stderr,
               "veeline: warning: rank 0 listens at %s, the loopback, which is "
               "what MASTER_ADDR '%s' is here; ranks on other machines need an "
               "address that they can reach\n",
               endpoint.address().to_string().c_str(), name.c_str());
}

void net::bindTo(tcp::acceptor &acceptor, const tcp::endpoint &endpoint,
                 uint16_t reserved, asio::error_code &error) {
  auto bind = [&] {
    acceptor.open(endpoint.protocol(), error);
    if (!error)
      acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error)
      acceptor.bind(endpoint, error);
  };
  bind();
  if (error || endpoint.port() != 0 ||
      acceptor.local_endpoint().port() != reserved)
    return;
  // Keeps the port bound, so that the next one differs. Rank 0 can still bind
  // to it, because both reuse addresses and this socket does not listen.
  tcp::acceptor held = std::move(acceptor);
  bind();
}

std::string net::nameOfPlace(std::string place) {
  place[place.rfind(' ')] = ':';
  return place;
}

bool net::hasEnded(asio::ip::tcp::socket &socket) {
  char byte;
  ssize_t count =
      ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno == ECONNRESET);
}
