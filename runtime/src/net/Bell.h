//===- Bell.h - waking a rank that waits -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI lets a rank only look whether a message has come. On a bell it can sleep
// meanwhile:
//
//   the rank that waits                 who sends to it, or takes from it
//     arm                                 send, or see that it has come
//     look whether it is there            ring
//     sleep
//
// `arm` and `ring` change the same word, so one of them is first. Where that is
// `ring`, the rank looks after it, and sees what was done before; where it is
// `arm`, `ring` finds the bell armed, and the rank's sleep ends, or does not
// begin.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_BELL_H
#define VEELINE_RUNTIME_NET_BELL_H

#include <atomic>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace veeline::net {

/// Of one rank, in memory that the processes of a host share. All zeros is a
/// bell. Who rings without need costs the rank a look; what nobody rings for
/// waits until the sleep has taken its time.
class alignas(64) Bell {
public:
  /// By the rank, before it looks for the last time.
  void arm() { word.exchange(armed, std::memory_order_acq_rel); }

  /// By the rank: no more than that. True where somebody has rung since `arm`.
  bool sleep(int64_t nanoseconds) {
    timespec timeout = {nanoseconds / 1'000'000'000,
                        nanoseconds % 1'000'000'000};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, armed, &timeout, nullptr, 0);
    return !disarm();
  }

  /// True where it was still armed.
  bool disarm() {
    return word.exchange(silent, std::memory_order_acq_rel) == armed;
  }

  /// By others: true where the rank sleeps, or is about to.
  bool isArmed() {
    // A change, too, so that it is before `arm` or after it.
    return word.fetch_or(0, std::memory_order_acq_rel) == armed;
  }

  /// By others: a system call only where the rank sleeps.
  void ring() {
    if (disarm())
      ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }

private:
  static constexpr uint32_t silent = 0, armed = 1;
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  std::atomic<uint32_t> word{silent};
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_BELL_H
