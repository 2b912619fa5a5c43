//===- Clock.h - the time of timelines -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_CLOCK_H
#define VEELINE_BASE_CLOCK_H

#include <cstdint>
#include <ctime>

namespace veeline {

/// Monotonic, the same on all threads; some 20 ns a call.
inline int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// The processor time of this thread; some 200 ns a call.
inline int64_t processorNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace veeline

#endif // VEELINE_BASE_CLOCK_H
