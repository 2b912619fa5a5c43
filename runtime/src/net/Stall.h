//===- Stall.h - ranks that make no progress --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process whose network's thread lives may be stuck all the same. Every wait
// of a rank is for another one, so a run that has stalled has a rank that
// is stuck by itself, which its own process finds out, or all ranks wait.
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

/// Whether all ranks wait for each other. Each rank says again and again
/// whether it waits, and how often it has moved; what arrives is a move, too.
/// Where none moves in an interval that all have in common, nothing is under
/// way, and nobody is left to move.
class Deadlock {
public:
  explicit Deadlock(int32_t numRanks) : ranks(static_cast<size_t>(numRanks)) {}

  /// `place` is what the rank does and waits for; empty where it does not wait.
  void hear(int32_t rank, uint32_t moves, std::string place, Time now);
  /// Forgets everything.
  void clear();
  /// What all wait for, where they have for `limit`.
  std::optional<std::string> find(Duration limit) const;

private:
  struct Rank {
    uint32_t moves = 0;
    std::string place;
    Time first, last; ///< It has said the same from one to the other.
  };
  std::vector<Rank> ranks;
};

/// Whether the rank of this process is stuck by itself.
class Stall {
public:
  struct Limits {
    Duration asleep; ///< In a step, without computing or waiting for another.
    Duration busy;   ///< With anything else.
  };
  explicit Stall(Limits limits) : limits(limits) {}

  void clear() { since.reset(); }
  /// What is wrong with the rank, where something is: "has ...".
  std::optional<std::string> look(const engine::Pulse &pulse, Time now);

private:
  const Limits limits;
  std::optional<Time> since; ///< The last move, or the begin.
  engine::Pulse first;       ///< What was seen then.
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_STALL_H
