//===- Futex.h - sleeping on a word of memory -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_FUTEX_H
#define VEELINE_BASE_FUTEX_H

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace veeline {

/// A word that one thread changes and others sleep on. Changing it costs a
/// system call only while a thread sleeps.
class WaitWord {
public:
  uint32_t load() const { return word.load(std::memory_order_acquire); }

  /// Adds, or sets bits, then wakes all sleepers. The change and the sleeper's
  /// announcement (`sleepers`) are sequentially consistent, so at least one
  /// side sees the other.
  void add(uint32_t amount) {
    word.fetch_add(amount, std::memory_order_seq_cst);
    wakeSleepers();
  }
  void setBits(uint32_t bits) {
    word.fetch_or(bits, std::memory_order_seq_cst);
    wakeSleepers();
  }

  /// Sleeps until the word is not `seen` any more, a signal arrives, or
  /// `milliseconds` have passed. The caller checks the word again.
  void sleepWhile(uint32_t seen, int64_t milliseconds) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (word.load(std::memory_order_seq_cst) == seen) {
      timespec timeout = {milliseconds / 1000,
                          (milliseconds % 1000) * 1'000'000};
      ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr,
                0);
    }
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }

private:
  void wakeSleepers() {
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr,
                0);
  }

  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  std::atomic<uint32_t> word{0};
  std::atomic<uint32_t> sleepers{0};
};

/// Tells the processor that this is a spin loop.
inline void pauseSpin() { __builtin_ia32_pause(); }

} // namespace veeline

#endif // VEELINE_BASE_FUTEX_H
