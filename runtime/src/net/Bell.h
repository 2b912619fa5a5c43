//===- Bell.h - waking a waiting rank ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With MPI a rank can only poll for a message. A bell lets it sleep between
// polls:
//
//   the rank that waits                 the rank at the other end
//     arm                                 send, or see that it has come
//     look whether it is there            ring
//     sleep
//
// `arm` and `ring` change the same word, so one of them is first. If `ring` is
// first, the rank looks after it, and sees what the other did before. If `arm`
// is first, `ring` finds the bell armed, and the rank's sleep ends or does not
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

/// The bell of one rank, in memory that the processes of a host share. All
/// zeros is a valid bell. An unnecessary ring costs the rank one more poll. If
/// nobody rings, the rank polls when its sleep times out.
class alignas(64) Bell {
public:
  /// Called by the rank before its last poll.
  void arm() { word.exchange(armed, std::memory_order_acq_rel); }

  /// Called by the rank: sleeps for at most `nanoseconds`. Returns true if
  /// another rank has rung since `arm`.
  bool sleep(int64_t nanoseconds) {
    timespec timeout = {nanoseconds / 1'000'000'000,
                        nanoseconds % 1'000'000'000};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, armed, &timeout, nullptr, 0);
    return !disarm();
  }

  /// Returns true if it was still armed.
  bool disarm() {
    return word.exchange(silent, std::memory_order_acq_rel) == armed;
  }

  /// Called by others: true if the rank sleeps or is about to.
  bool isArmed() {
    // Modifies the word, so that this is ordered before `arm` or after it.
    return word.fetch_or(0, std::memory_order_acq_rel) == armed;
  }

  /// Called by others. Makes a system call only if the rank sleeps or is about
  /// to.
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
