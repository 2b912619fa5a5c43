//===- Stall.cpp - detection of ranks without progress --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stall.h"

#include <algorithm>
#include <cstdio>

using namespace veeline;
using namespace veeline::net;
using engine::Pulse;

/// A thread sleeps if it computes for less than 1/1000 of the time.
static constexpr int64_t leastShare = 1000;

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

void Deadlock::hear(int32_t number, uint32_t moves, std::string place,
                    Time now) {
  Rank &rank = ranks[static_cast<size_t>(number)];
  if (rank.moves != moves || rank.place != place)
    rank.first = now;
  rank.last = now;
  rank.moves = moves;
  rank.place = std::move(place);
}

void Deadlock::clear() {
  for (Rank &rank : ranks)
    rank = {};
}

std::optional<std::string> Deadlock::find(Duration limit) const {
  Time begin = Time::min(), end = Time::max();
  std::string text = "deadlock:";
  for (const Rank &rank : ranks) {
    if (rank.place.empty())
      return std::nullopt;
    begin = std::max(begin, rank.first);
    end = std::min(end, rank.last);
    text += (&rank == &ranks.front() ? " " : "; ") + rank.place;
  }
  if (end < begin + limit)
    return std::nullopt;
  return text;
}

//===----------------------------------------------------------------------===//
// Stall
//===----------------------------------------------------------------------===//

static std::string inSeconds(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s",
                std::chrono::duration<double>(duration).count());
  return text;
}

std::optional<std::string> Stall::look(const Pulse &pulse, Time now) {
  if (!since || pulse.state == Pulse::waiting || pulse.state != first.state ||
      pulse.moves != first.moves) {
    since = now;
    first = pulse;
    return std::nullopt;
  }
  Duration passed = now - *since;
  int64_t computed = pulse.processorNanoseconds - first.processorNanoseconds;
  if (pulse.state == Pulse::computing && !pulse.isRunnable &&
      passed >= limits.asleep &&
      computed < std::chrono::nanoseconds(passed).count() / leastShare)
    return "has done nothing for " + inSeconds(limits.asleep) +
           ": its thread sleeps";
  if (passed >= limits.busy)
    return "has made no progress for " + inSeconds(limits.busy) +
           " (--stall-timeout)";
  return std::nullopt;
}
