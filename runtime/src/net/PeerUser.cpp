//===- PeerUser.cpp - the user of a connected process ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PeerUser.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

using namespace veeline;
using asio::ip::tcp;

static constexpr int maxAttempts = 20;

/// Formats an endpoint like /proc/net/tcp: the words of the address are in
/// native byte order.
static std::string nameOf(const tcp::endpoint &endpoint) {
  auto append = [](std::string &text, const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i += 4) {
      uint32_t word;
      std::memcpy(&word, bytes + i, 4);
      char digits[9];
      std::snprintf(digits, sizeof(digits), "%08X", word);
      text += digits;
    }
  };
  std::string text;
  if (endpoint.address().is_v4()) {
    auto bytes = endpoint.address().to_v4().to_bytes();
    append(text, bytes.data(), bytes.size());
  } else {
    auto bytes = endpoint.address().to_v6().to_bytes();
    append(text, bytes.data(), bytes.size());
  }
  char port[8];
  std::snprintf(port, sizeof(port), ":%04X", endpoint.port());
  return text + port;
}

/// The user whose socket has `ends` in a table of the system; none if there is
/// no such socket.
static std::optional<unsigned long> findUser(const char *path,
                                             const std::string &ends) {
  std::ifstream table(path);
  for (std::string line; std::getline(table, line);) {
    size_t at = line.find(ends);
    if (at == std::string::npos)
      continue;
    std::istringstream fields(line.substr(at + ends.size()));
    std::string state, queues, timer, retries;
    unsigned long user = 0, timeout = 0, inode = 0;
    fields >> state >> queues >> timer >> retries >> user >> timeout >> inode;
    // A socket that no process holds any more has no user.
    return inode == 0 ? std::nullopt : std::optional(user);
  }
  return std::nullopt;
}

std::string net::whyOfAnotherUser(const tcp::socket &socket) {
  asio::error_code error;
  tcp::endpoint theirs = socket.remote_endpoint(error);
  tcp::endpoint ours = socket.local_endpoint(error);
  if (error)
    return "it is gone";
  const char *path =
      theirs.address().is_v4() ? "/proc/net/tcp" : "/proc/net/tcp6";
  if (::access(path, R_OK) != 0)
    return "";
  const std::string ends = " " + nameOf(theirs) + " " + nameOf(ours) + " ";
  // If a table changes while it is read in parts, a line may be missing.
  for (int attempt = 0; attempt < maxAttempts; ++attempt) {
    std::optional<unsigned long> user = findUser(path, ends);
    if (!user)
      continue;
    if (*user == ::geteuid())
      return "";
    return "it is a process of another user (" + std::to_string(*user) +
           "); where it is to take part, set VEELINE_TOKEN for all ranks";
  }
  return "it is gone";
}
