//===- Waiting.h - polling with pauses --------------------------*- C++ -*-===//
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

/// The pauses between a rank's polls while it waits. The rank spins for 20 us,
/// then sleeps until another rank rings, which begins a new wait. A sleep takes
/// at most a quarter of the wait so far, and at most 1 ms, or 0.5 ms if the
/// bells of some ranks were not found. So short waits end soon, events that
/// nobody rings for are found all the same, and long waits leave the core to
/// others.
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

  /// Called before each poll.
  void beforeLook() {
    constexpr int64_t spinNanoseconds = 20'000;
    waited = nanoseconds() - wakened;
    isArmed = waited >= spinNanoseconds;
    if (isArmed)
      bell.arm();
  }

  /// Called after a poll without success.
  void pause() {
    if (!isArmed)
      return pauseSpin();
    isArmed = false;
    // A sleep takes about 10 us under a hypervisor, which is a few percent of
    // the longest sleep.
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

/// Calls `isDone` until it is true, and advances the rank's messages in the
/// meantime. Returns false if the rank fails, or once `isAborted` is set.
/// `bells` are those of the rank.
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

/// Like `lookUntil`; `awaited` says what the rank waits for, as for
/// Group::waitFor.
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
