//===- Waiting.h - looking again and again ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_WAITING_H
#define VEELINE_RUNTIME_NET_WAITING_H

#include "Bells.h"
#include "Rank.h"
#include "veeline/Base/Clock.h"

#include <algorithm>
#include <atomic>

namespace veeline::net {

/// The pauses of who looks again and again whether something is there. He
/// sleeps until somebody rings, from when on it counts as a new wait, and no
/// longer than a quarter of what the wait has taken; nor than 1 ms, or 0.5 ms
/// where some others have nothing to ring. So short waits end soon, what nobody
/// rings for is found all the same, and long waits leave the core to others.
class Pauses {
public:
  explicit Pauses(Bells &bells)
      : bell(bells.own()),
        maxSleepNanoseconds(bells.everyoneRings() ? 1'000'000 : 500'000) {}
  ~Pauses() {
    if (isArmed)
      bell.disarm();
  }
  Pauses(const Pauses &) = delete;
  Pauses &operator=(const Pauses &) = delete;

  /// Before each look.
  void beforeLook() {
    constexpr int64_t spinNanoseconds = 20'000;
    waited = nanoseconds() - wakened;
    isArmed = waited >= spinNanoseconds;
    if (isArmed)
      bell.arm();
  }

  /// After a look at what is not there.
  void pause() {
    if (!isArmed)
      return pauseSpin();
    isArmed = false;
    // What a sleep costs, some 10 us where there is a hypervisor, is a few
    // percent of that.
    if (bell.sleep(std::min(waited / 4, maxSleepNanoseconds)))
      wakened = nanoseconds();
  }

  const int64_t begin = nanoseconds();

private:
  Bell &bell;
  const int64_t maxSleepNanoseconds;
  int64_t wakened = begin, waited = 0;
  bool isArmed = false;
};

/// Calls `isDone` until it is true: then so is the result, unless the rank has
/// failed; false once `isAborted` is. The bells are the rank's. What is under
/// way is helped meanwhile.
template <typename Predicate>
bool lookUntil(veeline_rank &rank, Bells &bells,
               const std::atomic<bool> &isAborted, Predicate isDone) {
  Pauses pauses(bells);
  for (;;) {
    pauses.beforeLook();
    rank.progressMessages();
    if (rank.failed || isDone())
      break;
    if (isAborted.load(std::memory_order_acquire))
      return false;
    pauses.pause();
  }
  if (rank.timeline)
    rank.timeline->addIdle(pauses.begin, nanoseconds());
  return !rank.failed;
}

/// The same; `awaited` says what is waited for, as Group::waitFor has it.
template <typename Predicate>
bool sleepUntil(veeline_rank &rank, int32_t awaited, Bells &bells,
                const std::atomic<bool> &isAborted, Predicate isDone) {
  rank.await(awaited);
  bool isThere = lookUntil(rank, bells, isAborted, isDone);
  if (isThere || rank.failed)
    rank.await(-1);
  return isThere;
}

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_WAITING_H
