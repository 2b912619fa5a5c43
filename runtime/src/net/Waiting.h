//===- Waiting.h - looking again and again ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_WAITING_H
#define VEELINE_RUNTIME_NET_WAITING_H

#include "Clock.h"
#include "Rank.h"

#include <algorithm>
#include <atomic>
#include <ctime>

namespace veeline::net {

/// The pauses of who looks again and again whether something is there: after an
/// eighth of what the wait has taken, and at least every 0.1 ms. So short waits
/// end soon, and long ones leave the core to others.
class Pauses {
public:
  void pause() const {
    constexpr int64_t spinNanoseconds = 20'000, maxSleepNanoseconds = 100'000;
    int64_t waited = host::nanoseconds() - begin;
    if (waited < spinNanoseconds)
      return host::pauseSpin();
    timespec sleep = {0, std::min(waited / 8, maxSleepNanoseconds)};
    ::nanosleep(&sleep, nullptr);
  }

  const int64_t begin = host::nanoseconds();
};

/// Calls `isDone` until it is true: then so is the result, unless the rank has
/// failed; false once `isAborted` is. Reductions under way are helped
/// meanwhile.
template <typename Predicate>
bool lookUntil(veeline_rank &rank, const std::atomic<bool> &isAborted,
               Predicate isDone) {
  Pauses pauses;
  for (;;) {
    rank.progressReductions();
    if (rank.failed || isDone())
      break;
    if (isAborted.load(std::memory_order_acquire))
      return false;
    pauses.pause();
  }
  if (rank.timeline)
    rank.timeline->addIdle(pauses.begin, host::nanoseconds());
  return !rank.failed;
}

/// The same; `awaited` says what is waited for, as Group::waitFor has it.
template <typename Predicate>
bool sleepUntil(veeline_rank &rank, int32_t awaited,
                const std::atomic<bool> &isAborted, Predicate isDone) {
  rank.await(awaited);
  bool isThere = lookUntil(rank, isAborted, isDone);
  if (isThere || rank.failed)
    rank.await(-1);
  return isThere;
}

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_WAITING_H
