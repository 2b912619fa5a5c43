//===- Stall.h - detection of ranks without progress ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process may be stuck although its network thread is alive. A rank waits
// only for other ranks. So in a stalled run, either a rank is stuck by itself,
// which its own process detects, or all ranks wait.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_STALL_H
#define VEELINE_RUNTIME_NET_STALL_H

#include "Network.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace veeline::net {

using Time = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

/// Detects that all ranks wait for each other. Each rank repeatedly says
/// whether it waits, and how often it has moved; an arrival is also a move. If
/// no rank moves in an interval that is common to all, nothing is under way,
/// and no rank can ever move.
class Deadlock {
public:
  explicit Deadlock(int32_t numRanks) : ranks(static_cast<size_t>(numRanks)) {}

  /// Notes what a rank says. `place` is what it does and waits for, or empty if
  /// it does not wait.
  void hear(int32_t rank, uint32_t moves, std::string place, Time now);
  /// Forgets everything.
  void clear();
  /// What all ranks wait for, if they have waited for `limit`; else none.
  std::optional<std::string> find(Duration limit) const;

private:
  struct Rank {
    uint32_t moves = 0;
    std::string place;
    Time first, last; ///< The rank said the same from `first` to `last`.
  };
  std::vector<Rank> ranks;
};

/// Detects that the rank of this process is stuck by itself.
class Stall {
public:
  struct Limits {
    Duration asleep; ///< In a step, without computing or waiting for another.
    Duration busy;   ///< Without a move, not waiting for another.
  };
  explicit Stall(Limits limits) : limits(limits) {}

  void clear() { since.reset(); }
  /// What is wrong with the rank, "has ..."; none if it is not stuck.
  std::optional<std::string> look(const engine::Pulse &pulse, Time now);

private:
  const Limits limits;
  std::optional<Time> since; ///< The last move, or the begin.
  engine::Pulse first;       ///< What was seen then.
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_STALL_H
